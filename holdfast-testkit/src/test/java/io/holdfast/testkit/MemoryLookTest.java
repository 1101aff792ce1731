// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.Scheduler;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The end of a lease in memory is seen by a waiter's client, and not by one that is gone. */
class MemoryLookTest {
  private static final String NAME = "job";
  private static final LockOptions FIXED =
      LockOptions.builder().leaseFor(Duration.ofSeconds(10)).renew(false).build();

  private final ManualClock clock = new ManualClock();
  private final MemoryDatabase database = new MemoryDatabase(clock);

  private Holdfast client(Scheduler scheduler) {
    return Holdfast.builder()
        .store(new MemoryStore(database))
        .ticker(clock)
        .scheduler(scheduler)
        .build();
  }

  /** The first waiter's client would have looked; it is closed, and its timer with it. */
  @Test
  @Warns("hold lost: LEASE_ENDED")
  void leaseEnds_afterTheFirstWaitersClientWasClosed_theNextIsServed() throws Exception {
    AtomicBoolean gone = new AtomicBoolean();
    Scheduler timer = (task, delay) -> clock.schedule(
        () -> {
          if (!gone.get()) {
            task.run();
          }
        },
        delay);
    Holdfast leaves = client(timer);
    try (Holdfast holds = client(clock);
        Holdfast waits = client(clock)) {
      Hold held = holds.lock(NAME, FIXED).acquire();
      CompletableFuture<Hold> first = leaves.lock(NAME).acquireAsync();
      CompletableFuture<Hold> second = waits.lock(NAME).acquireAsync();
      leaves.close();
      gone.set(true);
      Await.failure(first);
      clock.advance(FIXED.leaseFor().minusMillis(1));
      assertThat(second).isNotDone();
      // asked here, so that it is not garbage before: a hold that was dropped is released
      assertThat(held.isValid()).isFalse();
      clock.advance(Duration.ofMillis(50));
      assertThat(Await.value(second).isValid()).isTrue();
    }
  }
}
