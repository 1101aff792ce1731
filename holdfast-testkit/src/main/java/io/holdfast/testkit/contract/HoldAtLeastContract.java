// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.spi.DurationText;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** {@code holdAtLeast}: after success the lock stays taken until then; after a failure it is free at once. */
abstract class HoldAtLeastContract extends Contract {
  private static final Duration LEAST = Duration.ofMillis(700);
  private static final LockOptions KEPT = LONG.toBuilder().holdAtLeast(LEAST).build();

  /** So long that a test which waits for it fails. */
  private static final LockOptions KEPT_LONG =
      LONG.toBuilder().holdAtLeast(Duration.ofMinutes(30)).build();

  /** A release keeps the lock taken, held by nobody, until that long after the grant; then a waiter gets it. */
  @Test
  void release_keepsTheLockUntilThen() throws Exception {
    Holdfast holdfast = client();
    DistributedLock other = client().lock(name, LONG);
    Duration least = LEAST;
    while (!isSeenKept(holdfast, other, least)) {
      least = least.multipliedBy(2);
    }
  }

  /** Looks for what a release keeps, and takes it afterwards; false if the look came too late to show anything. */
  private boolean isSeenKept(Holdfast holdfast, DistributedLock other, Duration least)
      throws Exception {
    long began = nanoTime();
    Hold hold = holdfast.lock(name, LONG.toBuilder().holdAtLeast(least).build()).acquire();
    assertTrue(hold.release());
    assertFalse(hold.isValid());
    Optional<LockInfo> kept = inStore().filter(LockInfo::isTaken);
    boolean refused = isRefused(other) && isRefused(holdfast.lock(name, LONG));
    if (nanoTime() - began >= least.minus(tolerance(holdfast)).toNanos()) {
      return false;
    }
    assertTrue(kept.orElseThrow().keptUntil().isPresent());
    assertTrue(kept.orElseThrow().holder().isEmpty());
    assertTrue(refused);
    try (Hold next = other.acquire()) {
      Duration took = Duration.ofNanos(nanoTime() - began);
      Duration earliest = least.minus(tolerance(holdfast));
      assertTrue(took.compareTo(earliest) >= 0, () -> "free after " + DurationText.of(took));
      assertTrue(next.token() > hold.token());
    }
    return true;
  }

  /** The same for a waiter of the client that held it, who is not handed the hold. */
  @Test
  void release_isNotHandedOver() throws Exception {
    DistributedLock lock = client().lock(name, KEPT);
    long began = nanoTime();
    Hold hold = lock.acquire();
    Task<Hold> waiter = spawnAcquire(client().lock(name, LONG));
    Task<Hold> local = spawnAcquire(lock.withOptions(LONG)).awaitWaiting();
    assertTrue(hold.release());
    Task<Hold> winner = Await.present("a next holder", () -> firstOf(waiter, local));
    Hold first = winner.get();
    assertTrue(nanoTime() - began >= LEAST.minusMillis(100).toNanos());
    assertTrue(first.token() > hold.token());
    assertTrue(first.release());
    Hold second = (winner == waiter ? local : waiter).get();
    assertTrue(second.release());
  }

  /** Work that failed frees the lock at once, in every form of it. */
  @Test
  void failure_freesTheLockAtOnce() throws Exception {
    DistributedLock lock = client().lock(name, KEPT_LONG);
    assertTrue(lock.acquire().releaseNow());
    assertFalse(isTaken());
    assertThrows(Oops.class, () -> lock.run(hold -> fail()));
    assertFalse(isTaken());
    assertThrows(Oops.class, () -> lock.call(hold -> fail()));
    assertFalse(isTaken());
    assertThrows(Oops.class, () -> lock.tryRun(hold -> fail()));
    assertFalse(isTaken());
  }

  /** Work that succeeded keeps the lock, in every form of it; an operator can let go of it. */
  @Test
  void success_keepsTheLock() throws Exception {
    DistributedLock lock = client().lock(name, KEPT_LONG);
    assertTrue(lock.acquire().release());
    assertKeptAndLetGo();
    lock.acquire().close();
    assertKeptAndLetGo();
    lock.run(Hold::ensureValid);
    assertKeptAndLetGo();
    assertEquals("done", lock.call(hold -> "done"));
    assertKeptAndLetGo();
    assertTrue(lock.tryRun(Hold::ensureValid));
    assertKeptAndLetGo();
    assertTrue(Await.value(lock.acquireAsync()).release());
    assertKeptAndLetGo();
  }

  /** Who held it longer than that keeps nobody waiting. */
  @Test
  void release_afterThen_freesTheLock() throws Exception {
    LockOptions soon = LONG.toBuilder().holdAtLeast(Duration.ofMillis(50)).build();
    Hold hold = client().lock(name, soon).acquire();
    Duration at = hold.remaining().minusMillis(200);
    Await.until("it was held longer", () -> hold.remaining().compareTo(at) < 0);
    assertTrue(hold.release());
    assertFalse(isTaken());
  }

  /** A holder that died kept nothing: its lease ends as ever. */
  @Test
  void crash_freesTheLockAfterItsLease() throws Exception {
    Faulty faulty = faulty();
    LockOptions options =
        endingRenewed().toBuilder().holdAtLeast(Duration.ofMinutes(30)).build();
    Hold hold = faulty.lock(name, options).acquire(PLENTY);
    faulty.faults().goSilent();
    try (Hold next = client().lock(name, LONG).acquire()) {
      assertTrue(next.token() > hold.token());
    }
  }

  /** The lock is kept although the client that held it is closed. */
  @Test
  void close_afterRelease_keepsTheLock() throws Exception {
    try (Holdfast holdfast = client()) {
      holdfast.lock(name, KEPT_LONG).acquire().close();
    }
    assertKeptAndLetGo();
  }

  private void assertKeptAndLetGo() {
    LockInfo kept = inStore().orElseThrow();
    assertTrue(kept.keptUntil().isPresent());
    assertTrue(kept.holder().isEmpty());
    assertTrue(observer().admin().forceRelease(kept));
    assertFalse(isTaken());
  }

  private static Optional<Task<Hold>> firstOf(Task<Hold> one, Task<Hold> other) {
    return one.isDone() ? Optional.of(one) : other.isDone() ? Optional.of(other) : Optional.empty();
  }

  private static Duration tolerance(Holdfast holdfast) {
    return holdfast.guarantees().granularity().plusMillis(20);
  }

  private static String fail() throws Oops {
    throw new Oops();
  }

  /** What failing work throws. */
  private static final class Oops extends Exception {
    private static final long serialVersionUID = 1L;
  }
}
