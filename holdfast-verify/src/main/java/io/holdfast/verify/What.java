// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

/** What a {@link Fact} can be. */
enum What {
  /** A worker asks for the lock. */
  REQUESTED,
  /** It did not get the lock in its time. */
  BUSY,
  /** It was told that nobody knows, or that the store is not there: {@code text}. */
  FAILED,
  /** It has the lock, with {@code token}; 0 where the protocol has none. */
  ACQUIRED,
  /** It believes that it still has the lock; the time is that before it looked. */
  VALID,
  /** It knows that it does not have the lock any more. */
  INVALID,
  /** It was told that its hold is lost. */
  LOST,
  /** The guarded resource took its write. */
  ACCEPTED,
  /** The guarded resource refused its write: the token is older than one that it has seen. */
  REFUSED,
  /** The resource that nobody guards took a write of a holder whose successor had written already. */
  OVERWRITTEN,
  /** It gives the lock back. */
  RELEASING,
  /** It has given back what was still its own. */
  RELEASED,
  /** It was told that there was nothing of its own to give back, while its hold was still certain. */
  NOT_MINE,
  /** The same, but the release took so long that the lease may have ended meanwhile. */
  TOO_LATE,
  /** The renewal of a hold was sent, as it should be. */
  RENEWED,
  /** The renewal of a hold was sent while one was under way, or after its end: {@code text}. */
  RENEWED_WRONGLY,
  /** A reentrant lock counted wrongly, refused its owner, or let a thread that does not own it unlock it: {@code text}. */
  COUNTED_WRONGLY,
  /** A worker began. */
  STARTED,
  /** A worker was stopped where it was. */
  PAUSED,
  /** A stopped worker goes on. */
  RESUMED,
  /** A worker was killed. */
  KILLED,
  /** It came into a reentrant lock again, as it should, with the same {@code token}. */
  REENTERED,
  /** It left a reentrant lock once, and is in it still. */
  LEFT,
  /** The server is to be killed. */
  RESTARTING,
  /** The server was killed, and answers again. */
  RESTARTED,
  /** The server was cut off. */
  CUT,
  /** The server is to be reached again. */
  HEALED,
  /** The server's wall clock is to be set: ahead by so many nanoseconds, in {@code token}. */
  STEPPED,
  /** The replicas fall behind, and the sentinels are asked for a failover. */
  FAILING_OVER,
  /** They name another server as the primary. */
  FAILED_OVER,
  /** A worker ended without having been told to: {@code text}. */
  DIED,
  /** There are no faults from here on. */
  QUIET,
  /** Whether the store still has something of a lock was seen; the lock is {@code text}. */
  LOOKED_FOR,
  /** In the end the store still has something of the run, {@code text}; or nobody could take the lock any more. */
  LEFT_BEHIND,
  /** In the end the store did not answer, so that nobody knows whether the lock was to be had: {@code text}. */
  AWAY,
  /** The run is over. */
  END
}
