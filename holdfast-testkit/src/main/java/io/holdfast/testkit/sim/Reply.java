// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.Holder;
import org.jspecify.annotations.Nullable;

/**
 * What the simulated server answers.
 *
 * @param status what it found or did
 * @param revision of the grant; of the lock's last grant, if the claim waits
 * @param micros what the server's clock reads
 * @param othersWait whether another process waits
 * @param isFinal whether nothing of the claim can come any more
 * @param holder who has the lock, if somebody else
 */
record Reply(
    Status status,
    long revision,
    long micros,
    boolean othersWait,
    boolean isFinal,
    @Nullable Holder holder) {
  enum Status {
    GRANTED,
    QUEUED,
    BUSY,
    LATE,
    /** Made in an epoch that is over. */
    STALE,
    GONE,
    RELEASED,
    WITHDRAWN,
    NOT_THERE
  }
}
