// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.testkit.history.Invariant;
import org.jspecify.annotations.Nullable;

/**
 * Protocols that are wrong by one change, kept for good: a judge is believed only as long as it catches them. Each names
 * the invariant that it breaks.
 */
public enum Flaw {
  // leases

  /** SETNX without an expiry: a dead holder keeps the lock for ever. */
  NO_EXPIRY(Invariant.I5),
  /** SETNX, then EXPIRE in a second request, which may not come. */
  EXPIRE_IN_A_SECOND_REQUEST(Invariant.I5),
  /** GETSET of time stamps made by the clients' clocks. */
  EXPIRY_BY_CLIENT_CLOCK(Invariant.I1),
  /** Validity is counted from the reply. */
  ANCHOR_AT_REPLY(Invariant.I2),
  /** A pushed grant is counted from the arrival of the push. */
  PUSH_ANCHORED_AT_ARRIVAL(Invariant.I2),
  /** A push that was overtaken by a newer wait is taken all the same. */
  STALE_PUSH_TAKEN(Invariant.I2),
  /** No margin for clocks that run at different rates. */
  NO_MARGIN(Invariant.I2),
  /** The store rounds leases down to its own steps. */
  LEASE_ROUNDED_DOWN(Invariant.I2),
  /** Validity by the monotonic clock alone, which does not see a sleep. */
  MONOTONIC_CLOCK_ONLY(Invariant.I2),
  /** Validity by the wall clock alone, which is set back. */
  WALL_CLOCK_ONLY(Invariant.I2),
  /** A renewal whose answer does not come counts as confirmed. */
  UNKNOWN_RENEWAL_IS_YES(Invariant.I2),

  // ownership

  /** Release is a plain DEL. */
  RELEASE_WITHOUT_OWNER_CHECK(Invariant.I6),
  /** Release is GET, and then DEL. */
  RELEASE_CHECKS_THEN_DELETES(Invariant.I6),
  /** Renewal is a plain EXPIRE. */
  RENEWAL_WITHOUT_OWNER_CHECK(Invariant.I6),
  /** Renewal is an upsert. */
  RENEWAL_CREATES(Invariant.I6),
  /** An operator's evict ends whatever holds now. */
  EVICT_WITHOUT_REVISION(Invariant.I6),

  // withdrawal

  /** The store applies attempts after their giveUpAt. */
  GIVE_UP_IGNORED(Invariant.I7),
  /** giveUpAt is judged before a wait in the store, not after it. */
  GIVE_UP_BEFORE_THE_WAIT(Invariant.I7),
  /** "Nothing there" counts as final at once. */
  WITHDRAWN_ONCE(Invariant.I7),
  /** An end whose answer does not come counts as confirmed. */
  UNKNOWN_END_IS_DONE(Invariant.I7),
  /** What was never held is not withdrawn: an interrupt leaks. */
  INTERRUPT_LEAKS(Invariant.I7),
  /** The driver replays unanswered attempts with a new deadline. */
  DRIVER_REPLAYS(Invariant.I7),
  /** A repeated attempt stands in the queue twice. */
  DUPLICATE_QUEUES_TWICE(Invariant.I7),
  /** A try that is answered "busy" leaves a waiter. */
  TRY_LEAVES_A_WAITER(Invariant.I7),
  /** A store without a clock to ask, whose acquire does not compare the client's epoch. */
  EPOCH_IGNORED(Invariant.I7),

  // tokens

  /** The row is deleted at its release, and the clock goes back. */
  ROW_DELETED_AT_RELEASE(Invariant.I3),
  /** The revision is the store's time alone. */
  REVISION_IS_TIME(Invariant.I3),
  /** The revision is the client's time. */
  REVISION_BY_CLIENT_CLOCK(Invariant.I3),
  /** The resource takes every token. */
  UNGUARDED_RESOURCE(Invariant.I4),

  // waiting

  /** Subscribed after the check, and nobody looks again. */
  SUBSCRIBED_AFTER_THE_CHECK(Invariant.I5),
  /** Waiters rely on messages alone. */
  NO_POLL(Invariant.I5),
  /** A lock that is handed over has the whole lease, dead waiter or not. */
  PUSH_HAS_THE_WHOLE_LEASE(Invariant.I5),
  /** The last to come is the first. */
  LAST_COME_FIRST_SERVED(Invariant.I5),
  /** A waiter whose time in the queue had ended is told that it has the lock. */
  EXPIRED_WAITER_IS_TOLD(Invariant.I2),
  /** A lock that is to be kept after its release is free at once. */
  NOT_KEPT(Invariant.I1),

  // the client

  /** Renewal goes on after the release. */
  RENEWAL_AFTER_RELEASE(Invariant.I8),
  /** Every renewal is sent twice. */
  RENEWAL_SENT_TWICE(Invariant.I8),
  /** A loss is logged and not told. */
  LOSS_NOT_TOLD(Invariant.I9),
  /** Callbacks come twice. */
  CALLBACKS_TWICE(Invariant.I9),
  /** The owner of a reentrant lock is the process, not the thread. */
  OWNER_IS_THE_PROCESS(Invariant.I10),
  /** "Could not reach the store" is told as "somebody else has it". */
  UNREACHABLE_IS_BUSY(Invariant.I12);

  private final Invariant caughtBy;

  Flaw(Invariant caughtBy) {
    this.caughtBy = caughtBy;
  }

  /**
   * Returns which invariant has to catch it.
   *
   * @return the one that it breaks
   */
  public Invariant caughtBy() {
    return caughtBy;
  }

  /** Makes a world in which the flaw can show: a fault that a right protocol stands is there, and often. */
  static void prepare(@Nullable Flaw flaw, Setup setup) {
    if (flaw == null) {
      return;
    }
    switch (flaw) {
      case NO_EXPIRY, EXPIRE_IN_A_SECOND_REQUEST -> often(setup, Fault.CRASH);
      case EXPIRY_BY_CLIENT_CLOCK, REVISION_BY_CLIENT_CLOCK -> often(setup, Fault.WALL_STEP);
      case ANCHOR_AT_REPLY, UNKNOWN_RENEWAL_IS_YES -> {
        often(setup, Fault.CUT);
        often(setup, Fault.DELAY);
      }
      case PUSH_ANCHORED_AT_ARRIVAL,
          STALE_PUSH_TAKEN,
          PUSH_HAS_THE_WHOLE_LEASE,
          EXPIRED_WAITER_IS_TOLD,
          DUPLICATE_QUEUES_TWICE,
          LAST_COME_FIRST_SERVED -> {
        setup.queues = true;
        often(setup, Fault.PAUSE);
        often(setup, Fault.DELAY);
        often(setup, Fault.DUPLICATE);
        often(setup, Fault.LOST_PUSH);
        often(setup, Fault.CRASH);
      }
      case NO_MARGIN -> {
        setup.maxDrift = 0.004;
        setup.storeRate = 1.004;
        often(setup, Fault.CUT);
      }
      case MONOTONIC_CLOCK_ONLY -> {
        setup.sleeps = true;
        often(setup, Fault.SUSPEND);
      }
      case WALL_CLOCK_ONLY -> {
        setup.sleeps = false;
        often(setup, Fault.WALL_STEP);
        often(setup, Fault.CUT);
      }
      case GIVE_UP_IGNORED,
          WITHDRAWN_ONCE,
          UNKNOWN_END_IS_DONE,
          DRIVER_REPLAYS,
          INTERRUPT_LEAKS,
          GIVE_UP_BEFORE_THE_WAIT -> {
        setup.finality = Setup.Finality.TIME;
        late(setup);
      }
      case EPOCH_IGNORED -> {
        setup.finality = Setup.Finality.EPOCH;
        late(setup);
      }
      case ROW_DELETED_AT_RELEASE, REVISION_IS_TIME -> often(setup, Fault.STORE_STEP);
      case UNGUARDED_RESOURCE -> {
        often(setup, Fault.PAUSE);
        often(setup, Fault.DELAY);
      }
      case SUBSCRIBED_AFTER_THE_CHECK, NO_POLL -> {
        setup.queues = flaw == NO_POLL && setup.queues;
        setup.waiterLease = 3_600 * Setup.SECOND;
        often(setup, Fault.LOST_PUSH);
      }
      case EVICT_WITHOUT_REVISION -> {
        often(setup, Fault.EVICT);
        often(setup, Fault.DELAY);
      }
      case RELEASE_CHECKS_THEN_DELETES,
          RELEASE_WITHOUT_OWNER_CHECK,
          RENEWAL_WITHOUT_OWNER_CHECK,
          RENEWAL_CREATES -> {
        often(setup, Fault.PAUSE);
        often(setup, Fault.DELAY);
      }
      case UNREACHABLE_IS_BUSY -> often(setup, Fault.CUT);
      case LOSS_NOT_TOLD, CALLBACKS_TWICE -> often(setup, Fault.CUT);
      default -> {
        // shows anywhere
      }
    }
  }

  private static void late(Setup setup) {
    often(setup, Fault.LATE_ARRIVAL);
    often(setup, Fault.LOST_REPLY);
    often(setup, Fault.DELAY);
    often(setup, Fault.STORE_WAIT);
    often(setup, Fault.INTERRUPT);
    often(setup, Fault.CANCEL);
  }

  private static void often(Setup setup, Fault fault) {
    setup.chances.set(fault, Setup.most(fault));
  }
}
