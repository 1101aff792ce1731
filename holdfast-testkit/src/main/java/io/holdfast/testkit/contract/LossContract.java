// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.OnLost;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Verb;
import io.holdfast.testkit.log.Warns;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** P6: a loss is told, once, by the local deadline at the latest, whether or not the store says anything. */
abstract class LossContract extends Contract {
  /** Without any answer of the store: at risk, then lost, each told once, in this order. */
  @Test
  void silentStore_holdIsAtRiskThenLost() throws Exception {
    Rounds.untilShown(endingRenewed(), this::isToldOfRiskAndLoss);
  }

  /** Lets a store be silent until the hold is lost; false if the clocks were looked at too late to see a risk before. */
  private boolean isToldOfRiskAndLoss(LockOptions options) throws Exception {
    Events events = new Events();
    Faulty faulty = faulty(builder -> builder.listener(events));
    Hold hold = faulty.lock(name, options).acquire();
    faulty.faults().goSilent();
    LockEvent.Lost lost = events.await(LockEvent.Lost.class, 1).get(0);
    assertEquals(HoldState.LOST, hold.state());
    assertEquals(hold.token(), lost.token());
    assertEquals(LossReason.LEASE_ENDED, lost.reason());
    faulty.faults().heal();
    try (Hold next = client().lock(name, LONG).acquire()) {
      assertTrue(next.token() > hold.token());
    }
    assertEquals(HoldState.LOST, hold.state());
    assertEquals(1, events.of(LockEvent.Lost.class).size());
    List<LockEvent.AtRisk> risks = events.of(LockEvent.AtRisk.class);
    assertTrue(risks.size() <= 1, () -> "told more than once: " + risks);
    List<LockEvent> all = events.all();
    risks.forEach(risk -> assertTrue(all.indexOf(risk) < all.indexOf(lost)));
    return !risks.isEmpty();
  }

  /** The hold reads lost at its deadline even if nothing has told it yet. */
  @Test
  void state_atTheDeadline_isLostAtOnce() throws Exception {
    Hold hold = client().lock(name, brief()).acquire();
    Await.until("its time is up", () -> hold.remaining().isZero());
    assertEquals(HoldState.LOST, hold.state());
    assertFalse(hold.isValid());
  }

  /** A renewal that comes after all takes the hold from at risk back to held; nothing is lost. */
  @Test
  void storeThatComesBackInTime_holdIsHeldAgain() throws Exception {
    LockOptions options =
        LockOptions.builder().leaseFor(briefLease().multipliedBy(6)).build();
    Rounds.untilShown(options, this::comesBackInTime);
  }

  /** Lets a store be silent until the hold is at risk; false if that took so long that it was lost, which shows nothing. */
  private boolean comesBackInTime(LockOptions options) throws Exception {
    Events events = new Events();
    Faulty faulty = faulty(builder -> builder.listener(events));
    try (Hold hold = faulty.lock(name, options).acquire()) {
      faulty.faults().goSilent();
      Await.until("it is at risk", () -> hold.state() != HoldState.HELD);
      boolean validAtRisk = hold.isValid();
      faulty.faults().heal();
      Await.until("it is at risk no more", () -> hold.state() != HoldState.AT_RISK);
      boolean validAgain = hold.isValid();
      boolean told = !events.of(LockEvent.Lost.class).isEmpty();
      if (hold.state() == HoldState.LOST) {
        return false;
      }
      assertTrue(validAtRisk);
      assertTrue(validAgain);
      assertFalse(told);
      return true;
    }
  }

  /** After the loss the checks say what happened, and ending the hold is quiet. */
  @Test
  void lostHold_saysSo() throws Exception {
    Holdfast holdfast = client();
    Rounds.untilShown(
        brief(), options -> saysWhatWasLost(holdfast.lock(name, options).acquire()));
  }

  /** Loses a hold; false if its lease had ended before it was seen valid. */
  private boolean saysWhatWasLost(Hold hold) {
    try {
      hold.ensureValid();
    } catch (HoldLostException e) {
      assertFalse(hold.isValid());
      return false;
    }
    Await.until("it is lost", () -> !hold.isValid());
    HoldLostException lost = assertThrows(HoldLostException.class, hold::ensureValid);
    assertEquals(hold.token(), lost.token());
    assertEquals(LossReason.LEASE_ENDED, lost.reason());
    assertEquals(Optional.of(name), lost.lockName());
    assertFalse(lost.store().isBlank());
    assertTrue(lost.when().toEpochMilli() > 0);
    assertTrue(String.valueOf(lost.getMessage()).contains(name));
    assertFalse(hold.release());
    assertFalse(hold.releaseNow());
    hold.close();
    assertEquals(HoldState.LOST, hold.state());
    return true;
  }

  /** A released hold is released, not lost. */
  @Test
  void releasedHold_isNotLost() throws Exception {
    Holdfast holdfast = client();
    Rounds.untilShown(
        brief(), options -> isReleased(holdfast.lock(name, options).acquire()));
  }

  /** Releases a hold; false if that came too late. */
  private boolean isReleased(Hold hold) throws Exception {
    CompletableFuture<@Nullable Void> lost = hold.lost();
    if (!releases(hold)) {
      assertFalse(hold.isValid());
      return false;
    }
    assertThrows(IllegalStateException.class, hold::ensureValid);
    try (Hold next = client().lock(name, brief()).acquire()) {
      Await.until("a hold that began later is over", () -> !next.isValid());
    }
    assertEquals(HoldState.RELEASED, hold.state());
    assertFalse(lost.isDone());
    assertFalse(hold.lost().isDone());
    return true;
  }

  /** Every call gives a future of its own: what one caller does to it, another does not see. */
  @Test
  void lost_isACopy() throws Exception {
    Holdfast holdfast = client();
    Rounds.untilShown(
        brief(), options -> isSeenCopied(holdfast.lock(name, options).acquire()));
  }

  /** Cancels a copy; false if the loss had come by itself before the other one was looked at, which shows nothing. */
  private static boolean isSeenCopied(Hold hold) {
    CompletableFuture<@Nullable Void> mine = hold.lost();
    CompletableFuture<@Nullable Void> yours = hold.lost();
    assertNotSame(mine, yours);
    boolean cancelled = mine.cancel(true);
    boolean done = yours.isDone();
    boolean valid = hold.isValid();
    Await.value(yours.thenApply(nothing -> true));
    assertEquals(HoldState.LOST, hold.state());
    Await.value(hold.lost().thenApply(nothing -> true));
    if (valid) {
      assertTrue(cancelled);
      assertFalse(done);
    }
    return valid;
  }

  /** The callback is called once, on the callback executor, and knows what was lost. */
  @Test
  void onLostCall_isCalledOnce() throws Exception {
    List<HoldLostException> told = new CopyOnWriteArrayList<>();
    AtomicReference<Thread> on = new AtomicReference<>();
    Holdfast holdfast = client(builder ->
        builder.callbackExecutor(task -> new Thread(task, "callbacks-of-the-test").start()));
    OnLost call = OnLost.call(loss -> {
      on.set(Thread.currentThread());
      told.add(loss);
    });
    Hold hold = holdfast.lock(name, brief().toBuilder().onLost(call).build()).acquire();
    Await.until("the loss was told", () -> !told.isEmpty());
    awaitNothingInStore();
    assertFalse(hold.release());
    assertEquals(1, told.size());
    assertEquals(hold.token(), told.get(0).token());
    assertEquals("callbacks-of-the-test", Objects.requireNonNull(on.get()).getName());
  }

  /** A callback that blocks keeps nobody's lease from being renewed. */
  @Test
  void onLostCall_thatBlocks_doesNotStopRenewals() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(1);
    OnLost block = OnLost.call(loss -> {
      begun.countDown();
      try {
        end.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    Faulty faulty = faulty(builder -> {});
    try (Hold kept = faulty.lock(name + "-kept", briefRenewed()).acquire()) {
      Hold lost = faulty.lock(name, brief().toBuilder().onLost(block).build()).acquire();
      begun.await();
      assertFalse(lost.isValid());
      int before = faulty.faults().requests(Verb.KEEP);
      Await.until("renewals go on", () -> faulty.faults().requests(Verb.KEEP) >= before + 2);
      assertTrue(kept.isValid());
    } finally {
      end.countDown();
    }
  }

  /** What a callback throws is counted, and hurts nobody. */
  @Test
  @Warns("a callback failed")
  void onLostCall_thatThrows_isCounted() throws Exception {
    Holdfast holdfast = client();
    OnLost fail = OnLost.call(loss -> {
      throw new IllegalStateException("thrown on purpose by a test");
    });
    Hold hold = holdfast.lock(name, brief().toBuilder().onLost(fail).build()).acquire();
    Await.until("the failure was counted", () -> holdfast.admin().callbackFailures() == 1);
    assertEquals(HoldState.LOST, hold.state());
    awaitNothingInStore();
    try (Hold next = holdfast.lock(name, LONG).acquire()) {
      assertTrue(next.isValid());
    }
  }

  /** The thread that acquired is interrupted. */
  @Test
  void onLostInterrupt_interruptsTheAcquirer() {
    LockOptions options = brief().toBuilder().onLost(OnLost.interruptAcquirer()).build();
    Holdfast holdfast = client();
    Task<Boolean> task = spawn("works", () -> {
      try (Hold hold = holdfast.lock(name, options).acquire()) {
        awaitInterrupt();
        return hold.isValid();
      }
    });
    assertFalse(task.get());
  }

  /** Once {@code release()} has returned, no interrupt for this hold comes any more. */
  @Test
  void onLostInterrupt_afterRelease_neverComes() {
    LockOptions options = brief().toBuilder().onLost(OnLost.interruptAcquirer()).build();
    Holdfast holdfast = client();
    Holdfast other = client();
    Task<Integer> task = spawn("works", () -> {
      int late = 0;
      for (int i = 0; i < 3; i++) {
        Hold hold = holdfast.lock(name, options).acquire();
        long left = hold.remaining().toNanos();
        long begin = nanoTime();
        while (nanoTime() - begin < left + (i - 1) * 300_000L) {
          LockSupport.parkNanos(10_000);
        }
        hold.close();
        Thread.interrupted(); // delivered before release() returned, if at all
        try (Hold next = other.lock(name, brief()).acquireAsync().join()) {
          while (next.isValid() && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(1_000_000);
          }
        }
        late += Thread.interrupted() ? 1 : 0;
      }
      return late;
    });
    assertEquals(0, task.get());
  }

  /** A detached hold's acquirer is left in peace. */
  @Test
  void onLostInterrupt_afterDetach_doesNotCome() throws Exception {
    LockOptions options = brief().toBuilder().onLost(OnLost.interruptAcquirer()).build();
    Holdfast holdfast = client();
    Rounds.untilShown(options, each -> {
      Task<Optional<Boolean>> task =
          spawn("works", () -> isInterrupted(holdfast.lock(name, each).acquire().detach()));
      Optional<Boolean> interrupted = task.get();
      assertFalse(interrupted.orElse(false));
      return interrupted.isPresent();
    });
  }

  /** Waits for the loss of a detached hold; nothing if it may have been lost, and told, before. */
  private Optional<Boolean> isInterrupted(Hold detached) {
    if (!detached.isValid()) {
      detached.close();
      return Optional.empty();
    }
    Await.value(detached.lost().thenApply(nothing -> true));
    client().lock(name, brief()).acquireAsync().join().close();
    return Optional.of(Thread.interrupted());
  }

  /** A hold that an operator ended is lost at its next renewal, with that reason, and never comes back. */
  @Test
  @Warns("hold lost: GONE")
  void forceRelease_isToldAtTheNextRenewal() throws Exception {
    Events events = new Events();
    Hold hold =
        client(builder -> builder.listener(events)).lock(name, briefRenewed()).acquire();
    assertTrue(observer().admin().forceRelease(inStore().orElseThrow()));
    LockEvent.Lost lost = events.await(LockEvent.Lost.class, 1).get(0);
    assertEquals(LossReason.GONE, lost.reason());
    assertEquals(HoldState.LOST, hold.state());
    HoldLostException thrown = assertThrows(HoldLostException.class, hold::ensureValid);
    assertEquals(LossReason.GONE, thrown.reason());
    awaitNothingInStore();
  }

  private static void awaitInterrupt() {
    long begin = nanoTime();
    while (!Thread.interrupted()) {
      assertTrue(nanoTime() - begin < PLENTY.toNanos(), "no interrupt came");
      LockSupport.parkNanos(1_000_000);
    }
  }
}
