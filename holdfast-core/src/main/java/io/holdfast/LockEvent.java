// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/** Something that happened to a lock in this process. {@code toString()} is for a log: durations read as {@code 200 ms}. */
public sealed interface LockEvent {
  /**
   * Returns the lock's name.
   *
   * @return the name
   */
  String lockName();

  /**
   * A caller asked for the lock.
   *
   * @param lockName the lock
   */
  record Requested(String lockName) implements LockEvent {
    /** Checks that the name is not null. */
    public Requested {
      Objects.requireNonNull(lockName, "lockName");
    }
  }

  /**
   * An attempt or a refresh failed, was late or stayed unanswered; the client pauses and asks the store again. Told before
   * each pause; requests that share a claim share the event.
   *
   * @param lockName the lock
   * @param why what failed, as in the message that a caller would get; no secrets
   * @param readyIn how long the store needs before it can serve, as of the failure; empty if it does not know
   */
  record Retrying(String lockName, String why, Optional<Duration> readyIn) implements LockEvent {
    /** Checks that nothing is null. */
    public Retrying {
      Objects.requireNonNull(lockName, "lockName");
      Objects.requireNonNull(why, "why");
      Objects.requireNonNull(readyIn, "readyIn");
    }

    @Override
    public String toString() {
      return "Retrying[lockName=" + lockName + ", why=" + why + ", readyIn="
          + readyIn.map(DurationText::of).orElse("unknown") + "]";
    }
  }

  /**
   * The store granted the lock.
   *
   * @param lockName the lock
   * @param token the hold's token
   * @param waited since the request
   */
  record Acquired(String lockName, long token, Duration waited) implements LockEvent {
    /** Checks that nothing is null. */
    public Acquired {
      Objects.requireNonNull(lockName, "lockName");
      Objects.requireNonNull(waited, "waited");
    }

    @Override
    public String toString() {
      return "Acquired[lockName=" + lockName + ", token=" + token + ", waited="
          + DurationText.of(waited) + "]";
    }
  }

  /**
   * A thread of this process passed the lock on to another one, without the store.
   *
   * @param lockName the lock
   * @param token the new hold's token
   * @param waited since the request
   */
  record HandedOver(String lockName, long token, Duration waited) implements LockEvent {
    /** Checks that nothing is null. */
    public HandedOver {
      Objects.requireNonNull(lockName, "lockName");
      Objects.requireNonNull(waited, "waited");
    }

    @Override
    public String toString() {
      return "HandedOver[lockName=" + lockName + ", token=" + token + ", waited="
          + DurationText.of(waited) + "]";
    }
  }

  /**
   * The store confirmed a renewal.
   *
   * @param lockName the lock
   * @param token the hold's token
   * @param margin what was left of the validity when the answer came
   */
  record Renewed(String lockName, long token, Duration margin) implements LockEvent {
    /** Checks that nothing is null. */
    public Renewed {
      Objects.requireNonNull(lockName, "lockName");
      Objects.requireNonNull(margin, "margin");
    }

    @Override
    public String toString() {
      return "Renewed[lockName=" + lockName + ", token=" + token + ", margin="
          + DurationText.of(margin) + "]";
    }
  }

  /**
   * A renewal is late or the connection is disturbed.
   *
   * @param lockName the lock
   * @param token the hold's token
   * @param left what is left of the validity
   */
  record AtRisk(String lockName, long token, Duration left) implements LockEvent {
    /** Checks that nothing is null. */
    public AtRisk {
      Objects.requireNonNull(lockName, "lockName");
      Objects.requireNonNull(left, "left");
    }

    @Override
    public String toString() {
      return "AtRisk[lockName=" + lockName + ", token=" + token + ", left=" + DurationText.of(left)
          + "]";
    }
  }

  /**
   * A hold was lost.
   *
   * @param lockName the lock
   * @param token the hold's token
   * @param reason why
   */
  record Lost(String lockName, long token, LossReason reason) implements LockEvent {
    /** Checks that nothing is null. */
    public Lost {
      Objects.requireNonNull(lockName, "lockName");
      Objects.requireNonNull(reason, "reason");
    }
  }

  /**
   * A hold was released by its holder, or found garbage-collected and released.
   *
   * @param lockName the lock
   * @param token the hold's token
   * @param held how long it was held
   * @param abandoned true if it was garbage-collected unreleased
   */
  record Released(String lockName, long token, Duration held, boolean abandoned)
      implements LockEvent {
    /** Checks that nothing is null. */
    public Released {
      Objects.requireNonNull(lockName, "lockName");
      Objects.requireNonNull(held, "held");
    }

    @Override
    public String toString() {
      return "Released[lockName=" + lockName + ", token=" + token + ", held="
          + DurationText.of(held) + ", abandoned=" + abandoned + "]";
    }
  }

  /**
   * A request ended without a hold: time-out, interrupt, cancellation, failure or busy.
   *
   * @param lockName the lock
   */
  record Withdrawn(String lockName) implements LockEvent {
    /** Checks that the name is not null. */
    public Withdrawn {
      Objects.requireNonNull(lockName, "lockName");
    }
  }
}
