// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Where two things meet in the engine: each of these went wrong once, or could have. */
@ExtendWith(HoldfastExtension.class)
class EngineCornersTest {
  private static final String NAME = "job";
  private static final Duration LEASE = LockOptions.DEFAULT_LEASE;

  /** The client closes while a try is on its way: the caller is told, and the late grant blocks nobody for ever. */
  @Test
  void close_withATryUnderWay(Holdfast holdfast, Faults faults, ManualClock clock, Rival rival)
      throws Exception {
    faults.on(Verb.ATTEMPT).once().holdBack();
    CompletableFuture<Optional<Hold>> attempt = holdfast.lock(NAME).tryAcquireAsync();
    closeWhileTimePasses(holdfast, clock);
    assertThat(Await.failure(attempt))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    faults.letThrough();
    clock.advance(LEASE);
    assertThat(rival.take(NAME).isValid()).isTrue();
  }

  /** The client closes while a release waits for its answer: the caller hears something, and the lock is free. */
  @Test
  void close_withAReleaseUnderWay(Holdfast holdfast, Faults faults, ManualClock clock, Rival rival)
      throws Exception {
    Hold hold = holdfast.lock(NAME).acquire();
    faults.on(Verb.END).once().holdBackReply();
    CompletableFuture<Boolean> released = CompletableFuture.supplyAsync(hold::release);
    Await.until("the release is under way", () -> faults.heldBack() == 1);
    assertThat(hold.state()).isEqualTo(HoldState.RELEASED);
    closeWhileTimePasses(holdfast, clock);
    faults.letThrough();
    Await.until("the release has returned", released::isDone);
    assertThat(rival.take(NAME).isValid()).isTrue();
  }

  /** The answer of a first attempt, given up long ago, comes while a second one is under way. */
  @Test
  void lateGrant_withASecondAttemptUnderWay(
      Holdfast holdfast, Faults faults, ManualClock clock, Rival rival) {
    faults.on(Verb.ATTEMPT).once().holdBackReply();
    faults.on(Verb.ATTEMPT).once().holdBack();
    CompletableFuture<Hold> waiting = holdfast.lock(NAME).acquireAsync();
    clock.advance(Duration.ofSeconds(3));
    assertThat(faults.heldBack()).isEqualTo(2);
    faults.letThrough();
    Hold hold = Await.value(waiting);
    assertThat(hold.isValid()).isTrue();
    assertThat(hold.remaining())
        .as("counted from before the first attempt was sent")
        .isLessThanOrEqualTo(LEASE.minusSeconds(3));
    assertThat(hold.release()).isTrue();
    clock.advance(Duration.ofSeconds(10));
    assertThat(rival.take(NAME).isValid()).isTrue();
  }

  /** An operator took the lock away: whoever releases hears of it, in every form of release. */
  @Test
  void evicted_isToldAtTheRelease(Holdfast holdfast, Faults faults) throws Exception {
    DistributedLock lock = holdfast.lock(NAME);
    Hold hold = lock.acquire();
    faults.evict(NAME);
    assertThat(hold.release()).isFalse();

    assertThatThrownBy(() -> lock.run(held -> faults.evict(NAME)))
        .isInstanceOf(HoldLostException.class);

    JavaLock javaLock = lock.asJavaLock();
    javaLock.lock();
    faults.evict(NAME);
    assertThatThrownBy(javaLock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertThat(javaLock.holdCount()).isZero();
  }

  /**
   * A hold at risk is released while another thread waits: it is renewed before it is passed on, and when that does not
   * work before the lease ends, the next one asks anew.
   */
  @Test
  void leaseEnds_whileItIsRenewedForTheNext(Holdfast holdfast, Faults faults, ManualClock clock)
      throws Exception {
    Hold hold = holdfast.lock(NAME).acquire();
    CompletableFuture<Hold> next = holdfast.lock(NAME).acquireAsync();
    faults.goSilent();
    clock.advance(Duration.ofSeconds(20));
    assertThat(hold.state()).isEqualTo(HoldState.AT_RISK);
    assertThat(hold.release()).isTrue();
    assertThat(next).isNotDone();
    clock.advance(Duration.ofSeconds(11));
    assertThat(next).as("nobody has an ended lease").isNotDone();
    faults.heal();
    clock.advance(Duration.ofSeconds(5));
    Hold second = Await.value(next);
    assertThat(second.isValid()).isTrue();
    assertThat(second.token()).isGreaterThan(hold.token());
  }

  /** As above, but the renewal works: the next one gets the renewed lease. */
  @Test
  void leaseIsRenewed_forTheNext(Holdfast holdfast, Faults faults, ManualClock clock)
      throws Exception {
    Hold hold = holdfast.lock(NAME).acquire();
    CompletableFuture<Hold> next = holdfast.lock(NAME).acquireAsync();
    faults.goSilent();
    clock.advance(Duration.ofSeconds(20));
    assertThat(hold.release()).isTrue();
    faults.heal();
    clock.advance(Duration.ofSeconds(3));
    Hold second = Await.value(next);
    assertThat(second.remaining()).isGreaterThan(Duration.ofSeconds(25));
    assertThat(second.token()).isGreaterThan(hold.token());
  }

  /** More fair waiters than a process has claims in the store for one name: still served in order. */
  @Test
  void fairWaiters_beyondTheLimit_areServedInOrder(Holdfast holdfast, Faults faults)
      throws Exception {
    DistributedLock lock = holdfast.lock(NAME, LockOptions.builder().fair(true).build());
    Hold hold = lock.acquire();
    List<CompletableFuture<Hold>> waiting = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      waiting.add(lock.acquireAsync());
    }
    assertThat(faults.requests(Verb.ATTEMPT)).as("claims in the store").isLessThan(300);
    for (int i = 0; i < waiting.size(); i++) {
      assertThat(waiting.subList(i, waiting.size())).noneMatch(CompletableFuture::isDone);
      assertThat(hold.release()).isTrue();
      hold = Await.value(waiting.get(i));
    }
    assertThat(hold.release()).isTrue();
  }

  /** A thread lost its hold and another one has the lock: the first one's way out does not touch the second one's. */
  @Test
  @SuppressWarnings("LockNotBeforeTry") // how it is locked and unlocked is what is tested
  @Warns("hold lost: SESSION_ENDED")
  void unlock_afterALoss_leavesTheNextOwnerAlone(Holdfast holdfast, Faults faults)
      throws Exception {
    JavaLock lock = holdfast.lock(NAME).asJavaLock();
    lock.lock();
    lock.lock();
    faults.loseHold(NAME);
    CompletableFuture<Boolean> entered = new CompletableFuture<>();
    CompletableFuture<Boolean> leave = new CompletableFuture<>();
    CompletableFuture<Integer> other = CompletableFuture.supplyAsync(() -> {
      lock.lock();
      entered.complete(true);
      leave.join();
      int count = lock.isHeldByCurrentThread() ? lock.holdCount() : 0;
      lock.unlock();
      return count;
    });
    entered.join();
    assertThat(lock.holdCount()).isEqualTo(2);
    assertThatThrownBy(lock::lock).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertThat(lock.holdCount()).isZero();
    leave.complete(true);
    assertThat(other.join()).isEqualTo(1);
    assertThat(lock.tryLock()).isTrue();
    lock.unlock();
  }

  /** The lease has ended by the clock, but no timer has run: a try asks the store, and does not say busy. */
  @Test
  @Warns("hold lost: LEASE_ENDED")
  void tryAcquire_onceTheLeaseHasEnded_asksTheStore(
      Holdfast holdfast, Faults faults, ManualClock clock) throws Exception {
    Hold hold = holdfast.lock(NAME).acquire();
    faults.goSilent();
    clock.stepWall(LEASE);
    assertThat(hold.isValid()).isFalse();
    faults.heal();
    clock.advance(LEASE);
    Optional<Hold> next = holdfast.lock(NAME).tryAcquire();
    assertThat(next).isPresent();
    assertThat(next.get().token()).isGreaterThan(hold.token());
  }

  /** A release that never got through: the store is asked what it still has, until it answers, and not after. */
  @Test
  @Warns("did not confirm its end")
  void reconciler_asksUntilItIsAnswered(Holdfast holdfast, Faults faults, ManualClock clock)
      throws Exception {
    Hold hold = holdfast.lock(NAME).acquire();
    faults.on(Verb.END).loseRequest();
    faults.on(Verb.OWN).times(3).loseRequest();
    assertThatThrownBy(() -> clock.whileTimePasses(hold::release))
        .isInstanceOf(StoreUnavailableException.class);
    clock.advance(LEASE.multipliedBy(4));
    assertThat(faults.requests(Verb.OWN)).isEqualTo(4);
  }

  /** What was once over stays over, whoever asked first, and whatever the wall clock says later. */
  @Test
  @Warns("hold lost: LEASE_ENDED")
  void remaining_onceZero_isFinal(Holdfast holdfast, ManualClock clock) throws Exception {
    Hold hold = holdfast.lock(NAME).acquire();
    clock.stepWall(LEASE);
    assertThat(hold.remaining()).isZero();
    clock.stepWall(LEASE.negated());
    assertThat(hold.isValid()).isFalse();
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
  }

  /**
   * The wake-up of a waiting thread is used up by another wait on its way to the park (here an executor's, as that of a
   * listener): it takes the lock that was offered to it all the same.
   */
  @Test
  void wakeUp_usedUpBeforeThePark(ManualClock clock) throws Exception {
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    AtomicReference<@Nullable Thread> late = new AtomicReference<>();
    Executor executor = task -> {
      task.run();
      if (Thread.currentThread().equals(late.get())) {
        reached.countDown();
        awaitUninterruptibly(mayGoOn);
      }
    };
    try (Holdfast own = Holdfast.builder()
        .store(new MemoryStore(new MemoryDatabase(clock)))
        .ticker(clock)
        .scheduler(clock)
        .callbackExecutor(executor)
        .listener(event -> {})
        .build()) {
      DistributedLock lock = own.lock(NAME);
      Hold first = lock.acquire();
      CompletableFuture<Boolean> second = CompletableFuture.supplyAsync(() -> {
        late.set(Thread.currentThread());
        JavaLock javaLock = lock.asJavaLock();
        javaLock.lock();
        try {
          return javaLock.hold().isValid();
        } finally {
          javaLock.unlock();
        }
      });
      awaitUninterruptibly(reached);
      assertThat(first.release()).isTrue();
      mayGoOn.countDown();
      assertThat(Await.value(second)).isTrue();
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    Await.until("it is let go on", () -> latch.getCount() == 0);
  }

  private static void closeWhileTimePasses(Holdfast holdfast, ManualClock clock) throws Exception {
    clock.whileTimePasses(() -> {
      holdfast.close();
      return true;
    });
  }
}
