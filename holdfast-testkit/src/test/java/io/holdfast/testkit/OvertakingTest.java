// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.engine.SteppedCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Waiters that cannot take a hold over, because they asked for different leases, on a store that answers at once: a
 * released lock goes to whoever comes first, but only as long as the first in the queue has not waited for long.
 */
@ExtendWith(HoldfastExtension.class)
class OvertakingTest {
  private static final Duration PATIENCE = Duration.ofMillis(10);

  private final List<String> woken = new ArrayList<>();
  private int leases;

  @Test
  void newcomer_comesBeforeTheOneThatWasCalled(Holdfast holdfast) {
    Hold first = acquire(holdfast);
    SteppedCall waiter = call(holdfast, "waiter");
    first.release();
    assertThat(woken).containsExactly("waiter");
    SteppedCall newcomer = call(holdfast, "newcomer");
    assertThat(newcomer.isDone()).isTrue();
    assertThat(waiter.run()).isFalse();
    woken.clear();
    hold(newcomer).release();
    assertThat(woken).containsExactly("waiter");
    assertThat(waiter.run()).isTrue();
    assertThat(hold(waiter).isValid()).isTrue();
  }

  @Test
  void newcomer_waitsBehindOneThatHasWaitedForLong(Holdfast holdfast, ManualClock clock) {
    Hold first = acquire(holdfast);
    SteppedCall waiter = call(holdfast, "waiter");
    first.release();
    clock.advance(PATIENCE);
    SteppedCall newcomer = call(holdfast, "newcomer");
    assertThat(newcomer.isDone()).isFalse();
    assertThat(waiter.run()).isTrue();
  }

  @Test
  void released_toOneThatHasWaitedForLong_isAskedForAtOnce(
      Holdfast holdfast, ManualClock clock, Rival rival) {
    Hold first = acquire(holdfast);
    SteppedCall waiter = call(holdfast, "waiter");
    clock.advance(PATIENCE);
    first.release();
    assertThat(rival.holdfast().lock("job").tryAcquire()).isEmpty();
    assertThat(waiter.run()).isTrue();
  }

  /** Otherwise everybody would wait for a lock that nobody has. */
  @Test
  void calledOne_timesOutBeforeItRuns_theNextOneGetsTheLock(
      Holdfast holdfast, ManualClock clock, Rival rival) {
    Hold first = acquire(holdfast);
    SteppedCall called = call(holdfast, "called", PATIENCE);
    SteppedCall next = call(holdfast, "next", null);
    first.release();
    assertThat(woken).containsExactly("called");
    Hold elsewhere = rival.take("job");
    clock.advance(PATIENCE);
    assertThat(called.run()).isTrue();
    assertThat(called.result()).isEmpty();
    elsewhere.release();
    assertThat(next.run()).isTrue();
    assertThat(hold(next).isValid()).isTrue();
  }

  /** The interrupt is the caller's to see later: what it was offered it takes, or others would wait for it. */
  @Test
  void calledOne_isInterrupted_takesTheLock(Holdfast holdfast) {
    Hold first = acquire(holdfast);
    SteppedCall called = call(holdfast, "called");
    SteppedCall next = call(holdfast, "next");
    first.release();
    assertThat(called.interrupt()).isFalse();
    hold(called).release();
    assertThat(next.run()).isTrue();
  }

  @Test
  void released_toOneWithoutAThread_isAskedForAtOnce(Holdfast holdfast) {
    Hold first = acquire(holdfast);
    CompletableFuture<Hold> waiter = holdfast.lock("job", options()).acquireAsync();
    first.release();
    assertThat(Await.value(waiter).isValid()).isTrue();
  }

  private Hold acquire(Holdfast holdfast) {
    Hold first = hold(call(holdfast, "first"));
    woken.clear();
    return first;
  }

  private SteppedCall call(Holdfast holdfast, String name) {
    return call(holdfast, name, null);
  }

  private SteppedCall call(Holdfast holdfast, String name, @Nullable Duration waitAtMost) {
    return SteppedCall.acquire(
        holdfast.lock("job", options()), waitAtMost, new Thread(name), () -> woken.add(name));
  }

  private static Hold hold(SteppedCall call) {
    return call.result().orElseThrow();
  }

  /** A lease of its own for each. */
  private LockOptions options() {
    return LockOptions.builder()
        .leaseFor(LockOptions.DEFAULT_LEASE.plusMillis(leases++))
        .build();
  }
}
