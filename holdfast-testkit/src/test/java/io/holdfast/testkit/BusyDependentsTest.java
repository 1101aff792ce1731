// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.OnLost;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Code that depends on acquisitions may take its time: neither a loss nor an event waits for it. */
class BusyDependentsTest {
  /** As many as {@link Holdfast.Builder#callbackExecutor} says. */
  private static final int THREADS = 64;

  private final ManualClock clock = new ManualClock();
  private final CompletableFuture<LockEvent> event = new CompletableFuture<>();
  private final CompletableFuture<HoldLostException> loss = new CompletableFuture<>();
  private final CountDownLatch over = new CountDownLatch(1);
  private final AtomicInteger busy = new AtomicInteger();

  private void takeYourTime() {
    busy.incrementAndGet();
    try {
      over.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  @Warns("lock=x .*hold lost")
  void lossAndEvent_areTold_whileAllThreadsAreBusy() throws InterruptedException {
    LockOptions options = LockOptions.builder()
        .leaseFor(Duration.ofSeconds(10))
        .renew(false)
        .onLost(OnLost.call(loss::complete))
        .build();
    FaultyStore store = new FaultyStore(new MemoryStore(new MemoryDatabase(clock)));
    try (Holdfast holdfast = Holdfast.builder()
        .store(store)
        .listener(this::listen)
        .ticker(clock)
        .scheduler(clock)
        .build()) {
      // what is answered at once would be complete, and run its dependents on this thread
      store.faults().on(Verb.ATTEMPT).delayReply(Duration.ofMillis(100));
      for (int i = 0; i < THREADS + 1; i++) {
        var unused = holdfast.lock("busy-" + i).acquireAsync().thenRun(this::takeYourTime);
      }
      clock.advance(Duration.ofMillis(200));
      Await.until("all threads are busy", () -> busy.get() == THREADS);
      store.faults().heal();
      Hold hold = holdfast.lock("x", options).acquire();
      clock.advance(Duration.ofSeconds(11));
      assertThat(hold.state()).isEqualTo(HoldState.LOST);
      Await.value(loss);
      Await.value(event);
      over.countDown();
    } finally {
      over.countDown();
    }
  }

  private void listen(LockEvent told) {
    if (told instanceof LockEvent.Lost) {
      event.complete(told);
    }
  }
}
