// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The future of a loss is done when the hold says so, however late the callback executor is. */
class LostFutureTest {
  private static final LockOptions FIXED =
      LockOptions.builder().leaseFor(Duration.ofSeconds(10)).renew(false).build();

  private final ManualClock clock = new ManualClock();
  private final List<Runnable> callbacks = new ArrayList<>();
  private final Holdfast holdfast = Holdfast.builder()
      .store(new MemoryStore())
      .ticker(clock)
      .scheduler(clock)
      .callbackExecutor(callbacks::add)
      .build();

  @AfterEach
  void close() {
    holdfast.close();
  }

  @Test
  @Warns("lock=x .*hold lost")
  void lostHold_hasADoneFuture_andItsDependentsWaitForTheExecutor()
      throws InterruptedException, ExecutionException, TimeoutException {
    Hold hold = holdfast.lock("x", FIXED).acquire();
    CompletableFuture<@Nullable Void> before = hold.lost();
    AtomicInteger ran = new AtomicInteger();
    var dependent = before.thenRun(ran::incrementAndGet);
    assertThat(before.isDone()).isFalse();
    clock.advance(Duration.ofSeconds(11));
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
    CompletableFuture<@Nullable Void> after = hold.lost();
    for (CompletableFuture<@Nullable Void> each : List.of(before, after)) {
      assertThat(each.isDone()).isTrue();
      each.join();
      each.get();
      each.get(0, TimeUnit.SECONDS);
      assertThat(each.getNow(null)).isNull();
      assertThat(each.isCompletedExceptionally()).isFalse();
    }
    assertThat(ran.get()).isZero();
    assertThat(dependent.isDone()).isFalse();
    List.copyOf(callbacks).forEach(Runnable::run);
    assertThat(ran.get()).isEqualTo(1);
    assertThat(dependent.isDone()).isTrue();
  }

  @Test
  void releasedHold_isNeverLost() throws InterruptedException {
    Hold hold = holdfast.lock("x", FIXED).acquire();
    CompletableFuture<@Nullable Void> before = hold.lost();
    assertThat(hold.release()).isTrue();
    clock.advance(Duration.ofSeconds(11));
    assertThat(before.isDone()).isFalse();
    assertThat(hold.lost().isDone()).isFalse();
  }

  /** It is the caller's own. */
  @Test
  void cancelledFuture_changesNothing() throws InterruptedException {
    Hold hold = holdfast.lock("x", FIXED).acquire();
    assertThat(hold.lost().cancel(false)).isTrue();
    assertThat(hold.isValid()).isTrue();
    assertThat(hold.lost().isDone()).isFalse();
    assertThat(hold.release()).isTrue();
  }
}
