// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import java.util.Objects;

/** The store's answer to {@link LockStore#keep}, for one claim. */
public sealed interface Kept {
  /**
   * The claim holds the lock, and its lease was extended (or it was granted meanwhile).
   *
   * @param grant the grant, with a new anchor
   */
  record Held(Grant grant) implements Kept {
    /** Checks that the grant is not null. */
    public Held {
      Objects.requireNonNull(grant, "grant");
    }
  }

  /**
   * The claim waits in the store. A hold of it is renewed once more, and lost if the answer is the same: where the store cannot tell
   * whether the claim holds or waits, the answer is {@link Unknown}.
   */
  record Queued() implements Kept {}

  /** The store does not know the claim: it expired, was evicted or never arrived. Renewing never revives it. */
  record Gone() implements Kept {}

  /** The store did not say. */
  record Unknown() implements Kept {}
}
