// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.Scheduler;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.contract.StoreContract;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * The user's scheduler stops to work, or never did: leases are renewed and losses told all the same. Side by side: each waits
 * for the warning of its own lock.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = StoreContract.SHARED, mode = ResourceAccessMode.READ)
@MayWarn("an internal step failed")
class RefusingSchedulerTest {
  private static final LockOptions BRIEF =
      LockOptions.builder().leaseFor(Duration.ofSeconds(9)).build();

  private final FaultyStore store = new FaultyStore(new MemoryStore());
  private final Faults faults = store.faults();
  private final ScheduledExecutorService executor = new ScheduledThreadPoolExecutor(1);
  private final Scheduler given = (task, delayNanos) -> {
    var future = executor.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
    return () -> {
      boolean unused = future.cancel(false);
      throw new IllegalStateException("for the test");
    };
  };

  @AfterEach
  void shutDown() {
    executor.shutdownNow();
  }

  /** It was shut down too early: it accepts nothing, and all runs elsewhere. */
  @Test
  @Warns({"refused a task", "lock=shut-down .*: hold lost: LEASE_ENDED"})
  void shutDownTooEarly_lossIsTold() throws Exception {
    // what it had accepted would be gone with it, and with that perhaps the wake-up that the first renewal relies on
    Holdfast.Builder lazily = Holdfast.builder().store(store).scheduler(given).connectLazily();
    try (Holdfast holdfast = lazily.build()) {
      executor.shutdownNow();
      Hold hold = holdfast.lock("shut-down", BRIEF).acquire();
      int before = faults.requests(Verb.KEEP);
      Await.until("it is renewed", () -> faults.requests(Verb.KEEP) > before);
      CompletableFuture<?> loss = hold.lost();
      faults.goSilent();
      Await.until("the loss is told", loss::isDone);
      assertThat(hold.state()).isEqualTo(HoldState.LOST);
      faults.heal();
    }
  }

  /** It fails when it is asked for the next wake-up, on the thread that is to run it. */
  @Test
  @Warns({"refused a task", "lock=failing .*: hold lost: LEASE_ENDED"})
  void failsWhileItTicks_lossIsTold() throws Exception {
    AtomicBoolean refuses = new AtomicBoolean();
    Scheduler fails = (task, delayNanos) -> {
      if (refuses.get()) {
        throw new RejectedExecutionException("for the test");
      }
      return given.schedule(task, delayNanos);
    };
    try (Holdfast holdfast = Holdfast.builder().store(store).scheduler(fails).build()) {
      Hold hold = holdfast.lock("failing", BRIEF).acquire();
      refuses.set(true);
      CompletableFuture<?> loss = hold.lost();
      Await.until("it is renewed", () -> faults.requests(Verb.KEEP) > 0);
      faults.goSilent();
      Await.until("the loss is told", loss::isDone);
      faults.heal();
    }
  }
}
