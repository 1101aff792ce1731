// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

/**
 * What an {@link Event} can be. Those of the store are what it did, not what it was asked for; those of a process are
 * what its callers saw.
 */
public enum Kind {
  // the store

  /**
   * The lock went to {@code claim}, with revision {@code number}, until {@code until}; {@code other} is 1 if fair, {@code
   * by} is {@code push} if it waited and did not ask just then.
   */
  GRANTED,
  /** The lease of {@code claim} now lasts until {@code until}, as {@code by} asked. */
  EXTENDED,
  /** The lease of {@code claim} was ended, as {@code by} asked; the lock is kept, without a holder, to {@code until}. */
  ENDED,
  /** The store told {@code claim} that its end is final. */
  ENDED_FINALLY,
  /**
   * The store noticed that the time is up: of the lease of {@code claim}; of a kept lock, if that is empty; of its place
   * in the queue, if {@code other} is 1.
   */
  EXPIRED,
  /** {@code claim} waits in the store until {@code until}, anew or still; {@code other} is 1 if fair. */
  QUEUED,
  /** {@code claim} does not wait any longer, as {@code by} asked. */
  UNQUEUED,
  /** An operator ended the lease of {@code claim}, having seen revision {@code number}. */
  EVICTED,
  /** The store's clock was set forward by {@code number} nanoseconds; back, if negative. */
  STORE_STEPPED,
  /** The resource that the lock guards took a write with token {@code number}. */
  ACCEPTED,
  /** The resource refused a write with token {@code number}. */
  REFUSED,

  // requests

  /** Request {@code number} began; {@code other} says how it waits, {@code until} is its deadline. */
  REQUESTED,
  /** Request {@code number} got a hold with token {@code other}. */
  ACQUIRED,
  /** Request {@code number} was told that somebody else has the lock. */
  BUSY,
  /** Request {@code number} failed with {@code by}. */
  FAILED,
  /** Request {@code number} was taken back by its caller. */
  WITHDRAWN,

  // holds

  /** The hold with token {@code number} said that it is valid. */
  VALID,
  /** The hold with token {@code number} said that it is not valid. */
  INVALID,
  /** The holder releases token {@code number}; the lock is to be kept for {@code other} nanoseconds from its grant. */
  RELEASING,
  /** The release of token {@code number} returned: {@code other} is 1 if it was still ours, 0 if not, -1 if unknown. */
  RELEASED,
  /** The holder dropped the hold with token {@code number} without a word. */
  DROPPED,
  /** The holder was told that token {@code number} is lost. */
  LOST,
  /** Thread {@code number} entered a reentrant lock, and is now in it {@code other} times. */
  ENTERED,
  /** Thread {@code number} left a reentrant lock, and is now in it {@code other} times. */
  LEFT,
  /** Thread {@code number} was told that it does not own a reentrant lock. */
  STRANGER,

  // claims

  /** {@code claim}, held as far as its process knows, is to be extended; the request may take {@code other} ns. */
  KEEP_SENT,
  /** That request was answered, or failed. */
  KEEP_ANSWERED,
  /** The process begins to end {@code claim}. */
  CLAIM_ENDING,
  /** For the process, nothing of {@code claim} is left, and nothing can come. */
  CLAIM_OVER,

  // processes

  /** The process was told that its connection is disturbed. */
  DISTURBED,
  /** The process stopped running. */
  PAUSED,
  /** The process runs again; its monotonic clock did not see {@code number} nanoseconds of that. */
  RESUMED,
  /** The process is gone, without a word. */
  CRASHED,
  /** The client is being closed. */
  CLOSING,
  /** The client is closed. */
  CLOSED,

  // the run

  /** From here on there are no faults. */
  QUIET,
  /** The history ends, at rest. */
  END
}
