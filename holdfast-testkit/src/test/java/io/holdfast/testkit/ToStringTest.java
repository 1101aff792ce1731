// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a log says of a hold, a lock and a client, at every state, and that saying it asks nothing. */
class ToStringTest {
  private final ManualClock clock = new ManualClock();
  private final MemoryStore store = new MemoryStore();
  private final FaultyStore network = new FaultyStore(store);
  private final Holdfast holdfast = Holdfast.builder()
      .store(network)
      .ticker(clock)
      .scheduler(clock)
      .clientName("billing")
      .build();
  private final DistributedLock lock = holdfast.lock("order:42");

  @AfterEach
  void close() {
    holdfast.close();
  }

  @Test
  void hold_saysNameTokenStateAndWhatIsLeft() throws InterruptedException {
    Hold hold = lock.acquire();
    String begin = "hold on \"order:42\", token " + hold.token() + ", ";
    assertThat(hold).hasToString(begin + "HELD, 29.6 s left");
    clock.advance(Duration.ofSeconds(5));
    assertThat(hold).hasToString(begin + "HELD, 24.6 s left");
    network.faults().goSilent();
    clock.advance(Duration.ofSeconds(11));
    assertThat(hold).hasToString(begin + "AT_RISK, 13.6 s left");
    network.faults().heal();
    assertThat(hold.release()).isTrue();
    assertThat(hold).hasToString(begin + "RELEASED");
  }

  @Test
  @Warns("lock=order:42 .*hold lost")
  void lostHold_saysWhy() throws InterruptedException {
    Hold hold = lock.acquire();
    network.faults().loseHold("order:42");
    assertThat(hold)
        .hasToString(
            "hold on \"order:42\", token " + hold.token() + ", LOST: the store's session ended");
  }

  /** Saying it is no look at the clocks that marks the loss: that would tell listeners and wake waiters. */
  @Test
  @Warns("lock=order:42 .*hold lost")
  void holdWhoseTimeIsUp_isSaidToBeLostAndNotMarkedByThat() throws InterruptedException {
    LockOptions fixed = LockOptions.builder().renew(false).build();
    Hold hold = lock.withOptions(fixed).acquire();
    String begin = "hold on \"order:42\", token " + hold.token() + ", ";
    clock.stepWall(Duration.ofMinutes(1));
    assertThat(hold).hasToString(begin + "LOST: its time is up");
    assertThat(holdfast).hasToString("Holdfast \"billing\" on " + store.describe() + ", 1 hold");
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
    assertThat(hold).hasToString(begin + "LOST: its lease ended before a renewal was confirmed");
    assertThat(holdfast).hasToString("Holdfast \"billing\" on " + store.describe() + ", 0 holds");
  }

  @Test
  void lock_saysNameAndStore() {
    assertThat(lock).hasToString("lock \"order:42\" on " + store.describe());
  }

  @Test
  void javaLock_saysWhichThreadHasIt() {
    JavaLock view = lock.asJavaLock();
    String begin = "reentrant lock \"order:42\" on " + store.describe() + ", ";
    assertThat(view).hasToString(begin + "not owned by a thread of this client");
    view.lock();
    try {
      assertThat(lock.asJavaLock())
          .hasToString(begin + "owned by thread \"" + Thread.currentThread().getName()
              + "\": token " + view.hold().token() + ", HELD, 29.6 s left");
    } finally {
      view.unlock();
    }
    assertThat(view).hasToString(begin + "not owned by a thread of this client");
  }

  @Test
  void client_saysNameStoreAndHolds() throws InterruptedException {
    String begin = "Holdfast \"billing\" on " + store.describe() + ", ";
    assertThat(holdfast).hasToString(begin + "0 holds");
    try (Hold one = lock.acquire();
        Hold other = holdfast.lock("other").acquire()) {
      assertThat(one.token()).isPositive();
      assertThat(other.token()).isPositive();
      assertThat(holdfast).hasToString(begin + "2 holds");
      holdfast.close();
      assertThat(holdfast).hasToString(begin + "closed");
      assertThat(one).hasToString("hold on \"order:42\", token " + one.token() + ", RELEASED");
      assertThat(lock).hasToString("lock \"order:42\" on " + store.describe());
    }
  }

  /** A store that answers nothing is not asked, and its address is that for people. */
  @Test
  void silentStore_isNotAsked() throws InterruptedException {
    Hold hold = lock.acquire();
    network.faults().goSilent();
    assertThat(hold.toString()).contains("HELD");
    assertThat(lock.toString()).contains("order:42");
    assertThat(lock.asJavaLock().toString()).contains("order:42");
    assertThat(holdfast.toString()).contains("1 hold");
    assertThat(network.faults().requests(Verb.ATTEMPT)).isEqualTo(1);
    assertThat(network.faults().requests(Verb.LOOK)).isZero();
    assertThat(network.faults().requests(Verb.KEEP)).isZero();
    network.faults().heal();
    hold.close();
  }
}
