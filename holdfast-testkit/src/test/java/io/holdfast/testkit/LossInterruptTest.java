// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.OnLost;
import io.holdfast.engine.SteppedCall;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.log.Warns;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A hold that is lost before its acquirer has it: the interrupt comes with the hold, or not at all. */
class LossInterruptTest {
  private static final String NAME = "job";
  private static final LockOptions INTERRUPTS =
      LockOptions.builder().onLost(OnLost.interruptAcquirer()).build();

  private final ManualClock clock = new ManualClock();
  private final MemoryDatabase database = new MemoryDatabase(clock);
  private final FaultyStore store = new FaultyStore(new MemoryStore(database));

  private Holdfast client(LockListener listener) {
    return Holdfast.builder()
        .store(store)
        .ticker(clock)
        .scheduler(clock)
        .callbackExecutor(Runnable::run)
        .listener(listener)
        .build();
  }

  /** The loss comes between the grant and the return of {@code acquire}, here from a listener on the same thread. */
  @Test
  @Warns("hold lost: SESSION_ENDED")
  void lostOnTheWayToTheAcquirer_interruptsItWhenItReturns() throws Exception {
    List<Boolean> interruptedEarly = new ArrayList<>();
    LockListener loser = event -> {
      if (event instanceof LockEvent.Acquired) {
        store.faults().loseHold(NAME);
        interruptedEarly.add(Thread.currentThread().isInterrupted());
      }
    };
    try (Holdfast holdfast = client(loser)) {
      Hold hold = holdfast.lock(NAME, INTERRUPTS).acquire();
      boolean interrupted = Thread.interrupted();
      assertThat(hold.state()).isEqualTo(HoldState.LOST);
      assertThat(interruptedEarly).as("before it had the hold").containsExactly(false);
      assertThat(interrupted).as("when it had the hold").isTrue();
    }
  }

  /** The loss comes while the acquirer has not run since the grant: it never has that hold, and is not interrupted. */
  @Test
  @Warns("hold lost: SESSION_ENDED")
  void lostBeforeTheAcquirerRan_interruptsNobody() {
    try (Holdfast holdfast = client(event -> {});
        Holdfast other = Holdfast.builder()
            .store(new MemoryStore(database))
            .ticker(clock)
            .scheduler(clock)
            .build()) {
      DistributedLock lock = holdfast.lock(NAME, INTERRUPTS);
      Hold theirs = other.lock(NAME).tryAcquire().orElseThrow();
      Thread acquirer = new Thread("acquirer");
      AtomicReference<Integer> woken = new AtomicReference<>(0);
      SteppedCall call =
          SteppedCall.acquire(lock, null, acquirer, () -> woken.updateAndGet(n -> n + 1));
      assertThat(theirs.release()).isTrue();
      assertThat(woken.get()).as("granted").isEqualTo(1);
      store.faults().loseHold(NAME);
      assertThat(acquirer.isInterrupted()).isFalse();
      assertThat(call.run()).as("it gets the next grant").isTrue();
      assertThat(acquirer.isInterrupted()).isFalse();
      Hold hold = call.result().orElseThrow();
      assertThat(hold.isValid()).isTrue();
      store.faults().loseHold(NAME);
      assertThat(acquirer.isInterrupted()).as("that one it has").isTrue();
    }
  }
}
