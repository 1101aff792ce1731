// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

/**
 * Whether a released hold passes to a waiter of the same process without the store. A pure function.
 *
 * <p>The idea is lock cohorting: D. Dice, V. Marathe, N. Shavit, "Lock Cohorting: A General Technique for Designing
 * NUMA Locks", PPoPP 2012. The bounds keep other processes from starving.
 */
final class HandOver {
  static final int LIMIT_WHEN_OTHERS_WAIT = 64;
  static final long NANOS_WHEN_OTHERS_WAIT = 20_000_000L;

  /**
   * How long a turn lasts that begins with a grant. Short, so that a process with one thread, which gets one hold a turn,
   * keeps up; long enough for several holds of a millisecond per round trip.
   */
  static final long GRANTED_TURN_NANOS = 5_000_000L;

  /**
   * A released hold may be taken by whoever comes first, as long as the first in the queue has not waited for this long;
   * after that it is handed to the first. A thread that runs needs no wake-up, which is most of what a hand-over costs;
   * Go's {@code sync.Mutex} has the same two modes and the same bound.
   */
  static final long PATIENCE_NANOS = 1_000_000L;

  /**
   * The same where the store is asked each time. Longer, because one round of sixteen waiters through a store takes a
   * millisecond: with the shorter patience everybody would always be due.
   */
  static final long STORE_PATIENCE_NANOS = 10_000_000L;

  /**
   * How many grants have a short turn after a sign of others; a grant that shows the sign is the first. More than one:
   * another process may come and go while this one asks a store that writes to a disk.
   */
  static final int GRANTS_OTHERS_EXPECTED = 4;

  private HandOver() {}

  /** What to do with a hold that was released while a suitable waiter of this process exists. */
  enum Verdict {
    /** Pass it on now. */
    PASS_ON,
    /** Renew the lease, then pass it on. */
    RENEW_FIRST,
    /** Give it back to the store. */
    GIVE_BACK
  }

  /**
   * Decides.
   *
   * @param renewed whether the lease is one that is renewed
   * @param handOvers how often this grant was passed on already
   * @param othersTurn whether others wait and this process has had its turn
   * @param leaseNanos the lease
   * @param leftNanos what is left of its validity
   */
  static Verdict decide(
      boolean renewed, int handOvers, boolean othersTurn, long leaseNanos, long leftNanos) {
    if (!renewed || handOvers >= Tokens.HAND_OVER_LIMIT || othersTurn) {
      return Verdict.GIVE_BACK;
    }
    return leftNanos >= leaseNanos / 3 * 2 ? Verdict.PASS_ON : Verdict.RENEW_FIRST;
  }
}
