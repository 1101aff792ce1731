// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/** Why a hold was lost. */
public enum LossReason {
  /** The lease ended before the store confirmed a renewal (or it was a fixed lease). */
  LEASE_ENDED("its lease ended before a renewal was confirmed"),
  /**
   * The store says that the claim is not there: it expired there, was taken over, evicted or deleted. Where the lease had ended
   * before that was heard, {@link #LEASE_ENDED} is told.
   */
  GONE("the store no longer knows it (expired, force-released or deleted)"),
  /** The store's session that carried the hold has ended. */
  SESSION_ENDED("the store's session ended"),
  /** The hold reached its {@code holdAtMost}. */
  HELD_TOO_LONG("it was held for its holdAtMost"),
  /** The thread that owned it through {@link JavaLock} died without unlocking. */
  THREAD_DIED("the thread that owned it has died");

  private final String explanation;

  LossReason(String explanation) {
    this.explanation = explanation;
  }

  /**
   * Says the reason in a few words.
   *
   * @return words that complete "the hold was lost: ..."
   */
  public String explanation() {
    return explanation;
  }
}
