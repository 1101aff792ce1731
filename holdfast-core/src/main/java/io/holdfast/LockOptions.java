// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import io.holdfast.engine.Checks;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * How a lock is acquired and held. Options belong to the acquisition: two locks of one name with different options are
 * the same lock and share one queue.
 *
 * <pre>{@code
 * LockOptions options = LockOptions.builder()
 *     .leaseFor(Duration.ofSeconds(10)) // renewed for as long as the lock is held
 *     .holdAtMost(Duration.ofMinutes(5)) // the hold is lost then
 *     .note("nightly report") // operators read it
 *     .onLost(OnLost.interruptAcquirer())
 *     .build();
 * DistributedLock lock = holdfast.lock("report", options);
 * }</pre>
 *
 * @param leaseFor how long the store keeps the lock for a holder that has fallen silent. Longer survives longer
 *     pauses and outages; shorter frees a dead holder's lock sooner. Default: 30 s
 * @param renew whether the lease is renewed while the lock is held. Off makes it a fixed lease. Default: on
 * @param holdAtMost the hold is lost when it has been held this long; the work is not stopped by that. Default: none
 * @param holdAtLeast a release after successful work keeps the lock taken until this long after the grant, by the
 *     store's clock. Default: zero
 * @param fair whether arrival order holds between processes, among those that ask for it. Default: off
 * @param note what operators read beside the holder, at most 200 characters. Default: empty
 * @param onLost what to do when the hold is lost, besides the change of state. Default: nothing
 */
public record LockOptions(
    Duration leaseFor,
    boolean renew,
    Optional<Duration> holdAtMost,
    Duration holdAtLeast,
    boolean fair,
    String note,
    OnLost onLost) {
  /** The lease when none is asked for. */
  public static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

  private static final LockOptions DEFAULTS = new LockOptions(
      DEFAULT_LEASE, true, Optional.empty(), Duration.ZERO, false, "", OnLost.doNothing());

  /**
   * Checks the options, all together.
   *
   * @throws IllegalArgumentException if a duration is out of range or options contradict each other; the message
   *     names every problem
   */
  public LockOptions {
    Objects.requireNonNull(leaseFor, "leaseFor");
    Objects.requireNonNull(holdAtMost, "holdAtMost");
    Objects.requireNonNull(holdAtLeast, "holdAtLeast");
    Objects.requireNonNull(note, "note");
    Objects.requireNonNull(onLost, "onLost");
    List<String> problems = new ArrayList<>();
    if (!Checks.isPositive(leaseFor)) {
      problems.add("leaseFor must be positive and at most " + DurationText.exact(Checks.LONGEST)
          + ", not " + DurationText.exact(leaseFor));
    }
    holdAtMost
        .filter(most -> !Checks.isPositive(most))
        .ifPresent(
            most -> problems.add("holdAtMost must be positive, not " + DurationText.exact(most)));
    if (holdAtLeast.isNegative() || holdAtLeast.compareTo(Checks.LONGEST) > 0) {
      problems.add("holdAtLeast must be between 0 and " + DurationText.exact(Checks.LONGEST)
          + ", not " + DurationText.exact(holdAtLeast));
    }
    if (note.length() > 200 || note.chars().anyMatch(Character::isISOControl)) {
      problems.add("note must be at most 200 characters without control characters");
    }
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", problems));
    }
  }

  /**
   * Returns the default options.
   *
   * @return a renewed lease of 30 s, not fair
   */
  public static LockOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Starts from the defaults.
   *
   * @return a new builder
   */
  public static Builder builder() {
    return new Builder(DEFAULTS);
  }

  /**
   * Starts from these options.
   *
   * @return a new builder
   */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /**
   * Says them in one line, for a log.
   *
   * @return every component; durations read as {@code 30 s}, to the last nanosecond; {@code none} if there is no {@code
   *     holdAtMost}
   */
  @Override
  public String toString() {
    return "LockOptions[leaseFor=" + DurationText.exact(leaseFor) + ", renew=" + renew
        + ", holdAtMost=" + holdAtMost.map(DurationText::exact).orElse("none") + ", holdAtLeast="
        + DurationText.exact(holdAtLeast) + ", fair=" + fair + ", note=" + note + ", onLost="
        + onLost + "]";
  }

  /** Makes {@link LockOptions}. Not thread-safe. A setter that is not called leaves the default that it names. */
  public static final class Builder {
    private Duration leaseFor;
    private boolean renew;
    private Optional<Duration> holdAtMost;
    private Duration holdAtLeast;
    private boolean fair;
    private String note;
    private OnLost onLost;

    private Builder(LockOptions from) {
      leaseFor = from.leaseFor;
      renew = from.renew;
      holdAtMost = from.holdAtMost;
      holdAtLeast = from.holdAtLeast;
      fair = from.fair;
      note = from.note;
      onLost = from.onLost;
    }

    /**
     * Sets the lease: how long the store keeps the lock for a holder that has fallen silent. It is no limit for the work:
     * while the lock is held, the lease is renewed each time a third of it has passed, unless {@link #renew} is off. A longer
     * lease survives longer pauses and outages; a shorter one frees the lock of a dead holder sooner. Default: 30 s.
     *
     * @param lease positive, and within what the store can keep ({@link Guarantees#shortestLease()}, {@link
     *     Guarantees#longestLease()}), or {@code lock} refuses the options
     * @return this
     */
    public Builder leaseFor(Duration lease) {
      this.leaseFor = Objects.requireNonNull(lease, "leaseFor");
      return this;
    }

    /**
     * Sets whether the lease is renewed while the lock is held. If it is not, a hold that was not released is {@linkplain
     * HoldState#LOST lost} when its lease ends, and others can have the lock, whatever the work is doing then. Default:
     * true.
     *
     * @param on false for a fixed lease
     * @return this
     */
    public Builder renew(boolean on) {
      this.renew = on;
      return this;
    }

    /**
     * Bounds how long a hold may be held: after this time it is {@linkplain HoldState#LOST lost}, however well it was
     * renewed. The work is not stopped by that, and others can have the lock as soon as its lease is over; set {@link #onLost} to
     * be told, and check the token where the work writes. Default: no bound.
     *
     * @param most positive, at most 3660 days
     * @return this
     */
    public Builder holdAtMost(Duration most) {
      this.holdAtMost = Optional.of(most);
      return this;
    }

    /**
     * Keeps the lock taken after a successful release until this long after the grant. It gives at most one successful run
     * in that time, not exactly one for each slot of a schedule: choose it longer than clock skew and start jitter together,
     * and shorter than the period less the jitter. {@link Hold#releaseNow()} ignores it. Default: zero, the lock is free
     * when it is released.
     *
     * @param least zero or positive, at most what the store can keep ({@link Guarantees#longestHoldAtLeast()})
     * @return this
     */
    public Builder holdAtLeast(Duration least) {
      this.holdAtLeast = Objects.requireNonNull(least, "holdAtLeast");
      return this;
    }

    /**
     * Asks for arrival order between processes, among those that ask for it. It costs a place in the store's queue for each
     * waiting thread (otherwise one claim asks for all threads of a process), and a lock that is released always goes back to
     * the store instead of to the next thread of this process. Redlock and Consul have no queue and refuse it. Default: false.
     *
     * @param on true for arrival order; a store that cannot give it ({@link Guarantee#FAIR}) refuses it with a {@link
     *     ConfigurationException} when the lock is made
     * @return this
     */
    public Builder fair(boolean on) {
      this.fair = on;
      return this;
    }

    /**
     * Sets a note that operators read beside the holder, with {@link LockAdmin} or the command {@code holdfast show}, and
     * that the message of an {@link AcquireTimeoutException} has. Default: empty.
     *
     * @param text at most 200 characters, no control characters
     * @return this
     */
    public Builder note(String text) {
      this.note = Objects.requireNonNull(text, "note");
      return this;
    }

    /**
     * Sets what to do when the hold is lost, besides the change of its state. Default: {@link OnLost#doNothing()}.
     *
     * @param action the action
     * @return this
     */
    public Builder onLost(OnLost action) {
      this.onLost = Objects.requireNonNull(action, "onLost");
      return this;
    }

    /**
     * Makes the options.
     *
     * @return immutable options
     * @throws IllegalArgumentException naming every problem at once
     */
    public LockOptions build() {
      return new LockOptions(leaseFor, renew, holdAtMost, holdAtLeast, fair, note, onLost);
    }
  }
}
