// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.engine.SteppedCall;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.contract.StoreContract;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Two things want to settle one request: the first one does, and nobody else's outcome is lost over it. */
@ResourceLock(StoreContract.SHARED)
class SettledOnceTest {
  private static final String NAME = "job";

  private final InternalFailures failures = new InternalFailures();
  private final ManualClock clock = new ManualClock();
  private final MemoryDatabase database = new MemoryDatabase(clock);
  private final FaultyStore store = new FaultyStore(new MemoryStore(database));
  private final Faults faults = store.faults();
  private final Queue<Runnable> callbacks = new ArrayDeque<>();
  private final Holdfast holdfast = Holdfast.builder()
      .store(store)
      .ticker(clock)
      .scheduler(clock)
      .callbackExecutor(callbacks::add)
      // pauses are as long as they can be
      .random(() -> 0)
      .build();
  private final DistributedLock lock = holdfast.lock(NAME);

  @AfterEach
  void close() {
    faults.heal();
    holdfast.close();
    failures.close();
    assertThat(failures.seen()).isEmpty();
  }

  /**
   * Two requests are overdue when the store answers "busy" at last. The first one leaves with that answer, which lets
   * the second one have the lock that was free to take within this process: it is not busy any more.
   */
  @Test
  void busyForAll_whileTheFirstLeavesTheLockToTheSecond() {
    Duration brief = Duration.ofNanos(400_000);
    faults.on(Verb.ATTEMPT).once().holdBack();
    SteppedCall first = SteppedCall.acquire(lock, brief, new Thread("first"), () -> {});
    CompletableFuture<Optional<Hold>> second = lock.tryAcquireAsync(brief);
    Hold own = lock.tryAcquire().orElseThrow();
    clock.advance(Duration.ofNanos(500_000));
    assertThat(own.release()).isTrue();
    assertThat(first.isDone()).as("called, but does not run").isFalse();
    faults.letThrough();
    runCallbacks();
    assertThat(first.run()).isTrue();
    assertThat(first.result()).isEmpty();
    assertThat(Await.value(second).orElseThrow().release()).isTrue();
  }

  /** As above, but the store refuses for good. */
  @Test
  void failureForAll_whileTheFirstLeavesTheLockToTheSecond() {
    faults.on(Verb.ATTEMPT).once().fail();
    CompletableFuture<Hold> earlier = lock.acquireAsync();
    clock.advance(Duration.ofNanos(19_600_000));
    Hold own = lock.tryAcquire().orElseThrow();
    SteppedCall first = SteppedCall.acquire(lock, null, new Thread("first"), () -> {});
    CompletableFuture<Hold> second = lock.acquireAsync();
    assertThat(earlier.cancel(false)).isTrue();
    assertThat(own.release()).isTrue();
    faults.on(Verb.ATTEMPT).once().fail(StoreUnavailableException.Reason.REFUSED);
    clock.advance(Duration.ofMillis(1));
    runCallbacks();
    assertThat(first.run()).isTrue();
    assertThatThrownBy(first::result).isInstanceOf(StoreUnavailableException.class);
    assertThat(Await.value(second).release()).isTrue();
  }

  /** A request is granted in the very wake-up of the timer in which its time is up. */
  @Test
  void granted_inTheWakeUpThatEndsItsTime() {
    faults.on(Verb.ATTEMPT).once().fail();
    CompletableFuture<Optional<Hold>> timed = lock.tryAcquireAsync(Duration.ofMillis(25));
    clock.freeze(Duration.ofMillis(100));
    runCallbacks();
    assertThat(Await.value(timed).orElseThrow().release()).isTrue();
  }

  /** A future is cancelled when its request was granted and its callback has not run: the hold is given back. */
  @Test
  void cancelled_afterItWasGranted() {
    CompletableFuture<Hold> future = lock.acquireAsync();
    assertThat(callbacks).as("granted").hasSize(1);
    assertThat(future.cancel(false)).isTrue();
    runCallbacks();
    Hold next = lock.tryAcquire().orElseThrow();
    assertThat(next.release()).isTrue();
  }

  private void runCallbacks() {
    for (Runnable next = callbacks.poll(); next != null; next = callbacks.poll()) {
      next.run();
    }
  }
}
