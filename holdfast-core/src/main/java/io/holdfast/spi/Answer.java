// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.Holder;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/** The store's answer to an attempt. No answer (a failed stage) means unknown, see {@link StoreException}. */
public sealed interface Answer {
  /**
   * The claim holds the lock.
   *
   * @param grant the grant
   */
  record Granted(Grant grant) implements Answer {
    /** Checks that the grant is not null. */
    public Granted {
      Objects.requireNonNull(grant, "grant");
    }
  }

  /**
   * Somebody else has it.
   *
   * @param queued whether the claim now waits in the store
   * @param holder who has it, where the store says so
   * @param leaseLeft how long the holder's lease still lasts, where the store says so
   */
  record Busy(boolean queued, Optional<Holder> holder, Optional<Duration> leaseLeft)
      implements Answer {
    /** Checks that nothing is null. */
    public Busy {
      Objects.requireNonNull(holder, "holder");
      Objects.requireNonNull(leaseLeft, "leaseLeft");
    }
  }

  /** The attempt reached the store after its {@code giveUpAt} and was not applied. */
  record Late() implements Answer {}
}
