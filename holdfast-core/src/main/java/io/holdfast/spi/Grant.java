// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.Moment;
import java.time.Duration;
import java.util.Objects;

/**
 * The store says: this claim holds the lock.
 *
 * @param revision the store's number of this grant, greater than that of every earlier grant of the name, below 2^55;
 *     the same whenever the same claim is confirmed
 * @param anchor the lease certainly began after this local moment: for a request, the one just before it was sent; for
 *     a grant that was pushed, the send moment of the claim's last own request that was answered "still queued"
 * @param lease how long it lasts from then without a renewal: the claim's lease, or, for a grant that was pushed, less;
 *     a store that can only keep shorter ones says so in its guarantees and is not asked for longer ones
 * @param othersWait whether another process is known to wait for this lock
 */
public record Grant(long revision, Moment anchor, Duration lease, boolean othersWait) {
  /** Revisions are below this: a token has 8 bits for the hand-overs within a process. */
  public static final long REVISION_LIMIT = 1L << 55;

  /** Checks the range of the revision. */
  public Grant {
    Objects.requireNonNull(anchor, "anchor");
    Objects.requireNonNull(lease, "lease");
    if (revision <= 0 || revision >= REVISION_LIMIT) {
      throw new IllegalArgumentException("revision out of range: " + revision);
    }
  }
}
