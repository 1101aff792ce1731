// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.testkit.Await;
import java.io.IOException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** {@code run}, {@code call} and {@code tryRun}. */
abstract class WorkContract extends Contract {
  /** The work runs with a valid hold, and the lock is free afterwards. */
  @Test
  void work_runsWithTheHold() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    AtomicReference<Hold> seen = new AtomicReference<>();
    lock.run(seen::set);
    Hold first = Objects.requireNonNull(seen.get());
    assertFalse(first.isValid());
    assertFalse(isTaken());
    assertTrue(lock.tryRun(hold -> {
      assertTrue(hold.isValid());
      assertTrue(hold.token() > first.token());
      assertTrue(isTaken());
    }));
    assertFalse(isTaken());
  }

  /** The result is passed on, null too. */
  @Test
  @SuppressWarnings("NullAway") // null is the point
  void call_returnsTheResult() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    assertEquals("result", lock.call(hold -> "result"));
    @Nullable String nothing = lock.<@Nullable String, RuntimeException>call(hold -> null);
    assertNull(nothing);
    assertFalse(isTaken());
  }

  /** What the work throws is passed on as it is, and the lock is free. */
  @Test
  void work_thatThrows_isPassedOn() {
    DistributedLock lock = client().lock(name, LONG);
    IOException mine = new IOException("thrown by the work");
    assertSame(mine, assertThrows(IOException.class, () -> lock.run(hold -> fail(mine))));
    assertSame(mine, assertThrows(IOException.class, () -> lock.call(hold -> fail(mine))));
    assertSame(mine, assertThrows(IOException.class, () -> lock.tryRun(hold -> fail(mine))));
    StackOverflowError error = new StackOverflowError("thrown by the work");
    assertSame(
        error,
        assertThrows(
            StackOverflowError.class,
            () -> lock.run(hold -> {
              throw error;
            })));
    assertFalse(isTaken());
  }

  /** A busy lock: false, and the work did not run. */
  @Test
  void tryRun_busy_doesNotRun() throws Exception {
    AtomicBoolean ran = new AtomicBoolean();
    try (Hold hold = client().lock(name, LONG).acquire()) {
      assertFalse(client().lock(name, LONG).tryRun(again -> ran.set(true)));
      assertTrue(hold.isValid());
    }
    assertFalse(ran.get());
  }

  /** Work that returned although its hold was lost meanwhile: whoever called is told. */
  @Test
  void work_whoseHoldWasLost_isTold() {
    DistributedLock lock = client().lock(name, brief());
    assertThrows(HoldLostException.class, () -> lock.run(WorkContract::outlive));
    assertThrows(
        HoldLostException.class,
        () -> lock.call(hold -> {
          outlive(hold);
          return "too late";
        }));
    assertThrows(HoldLostException.class, () -> Await.present("a turn", () -> tryOutlive(lock)));
  }

  /** What the work threw says more than that the hold was lost. */
  @Test
  void work_thatThrowsAfterALoss_isPassedOn() {
    DistributedLock lock = client().lock(name, brief());
    IOException mine = new IOException("thrown by the work");
    assertSame(
        mine,
        assertThrows(
            IOException.class,
            () -> lock.run(hold -> {
              outlive(hold);
              fail(mine);
            })));
  }

  /** Work may release by itself. */
  @Test
  void work_thatReleases_isDone() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    lock.run(hold -> assertTrue(hold.release()));
    assertFalse(isTaken());
  }

  private static Optional<Boolean> tryOutlive(DistributedLock lock) {
    return ifAnswered(
        () -> lock.tryRun(WorkContract::outlive) ? Optional.of(true) : Optional.empty());
  }

  private static void outlive(Hold hold) {
    Await.until("the hold is lost", () -> !hold.isValid());
  }

  private static String fail(IOException with) throws IOException {
    throw with;
  }
}
