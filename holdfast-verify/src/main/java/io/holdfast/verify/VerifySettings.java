// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * What to verify, and how.
 *
 * @param uri the store's address
 * @param protocol what to lock with
 * @param duration for how long there are faults
 * @param clients how many processes take locks
 * @param lease how long a lease is
 * @param wakesWithin how long after its end the store may take to give a lock to somebody who waits, as it guarantees
 * @param faults which faults to inject
 * @param clockMatters whether a step of the store's clock may end a lease early, as the store declares
 * @param seed what decides who is hit and when; the machine and the store decide the rest
 * @param java the command that starts a Java program with this class path, up to the main class
 */
public record VerifySettings(
    String uri,
    Protocol protocol,
    Duration duration,
    int clients,
    Duration lease,
    Duration wakesWithin,
    Set<Fault> faults,
    boolean clockMatters,
    long seed,
    List<String> java) {
  /** More processes than that say nothing more, on one machine. */
  private static final int MOST_CLIENTS = 64;

  /** All that happens is kept in memory until it is judged. */
  private static final Duration LONGEST = Duration.ofHours(1);

  /**
   * Checks what can be checked without the store.
   *
   * @throws IllegalArgumentException if something makes no sense; the message says what to do
   */
  public VerifySettings {
    Objects.requireNonNull(uri, "uri");
    Objects.requireNonNull(protocol, "protocol");
    Objects.requireNonNull(wakesWithin, "wakesWithin");
    faults = Set.copyOf(faults);
    java = List.copyOf(java);
    if (clients < 2 || clients > MOST_CLIENTS) {
      throw new IllegalArgumentException(
          "the number of clients must be from 2 to " + MOST_CLIENTS + ", not " + clients);
    }
    if (duration.compareTo(lease.multipliedBy(2)) < 0) {
      throw new IllegalArgumentException("a run must last at least two leases, "
          + DurationText.exact(lease.multipliedBy(2)) + ", not " + DurationText.exact(duration));
    }
    if (duration.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("a run may last " + DurationText.exact(LONGEST)
          + " at most, not " + DurationText.exact(duration) + "; run it again for more");
    }
    if (protocol != Protocol.HOLDFAST && faults.stream().anyMatch(Fault::isTheServers)) {
      throw new IllegalArgumentException(
          "the textbook's protocols do not come back after their server was away: give them pause and kill");
    }
    if (!protocol.fits(uri)) {
      throw new IllegalArgumentException(
          "the protocol " + protocol.label() + " is not for this store");
    }
    if (protocol.needsFailover() && !faults.contains(Fault.FAILOVER)) {
      throw new IllegalArgumentException("the protocol " + protocol.label()
          + " shows its flaw in a failover, which you have to ask for: --faults failover");
    }
    if (faults.contains(Fault.FAILOVER) && !Sentinels.areIn(uri)) {
      throw new IllegalArgumentException(
          "the fault failover is for servers that sentinels watch over: redis-sentinel:, without TLS");
    }
  }

  /** What can be done to a run. */
  public enum Fault {
    /** A worker stops where it is, for up to two leases, and goes on. */
    PAUSE,
    /** A worker is killed, and another one comes. */
    KILL,
    /** The server is killed, and started again. */
    RESTART,
    /** The server is cut off from all workers, for up to two leases. */
    PARTITION,
    /** The server's wall clock steps, forward or back, by up to two leases. */
    CLOCK,
    /** The replicas fall behind by a lease, and the sentinels are asked for a failover: of the server that is named. */
    FAILOVER;

    /**
     * Returns its name for people.
     *
     * @return for example {@code pause}
     */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** What says that it took place. */
    What what() {
      return switch (this) {
        case PAUSE -> What.PAUSED;
        case KILL -> What.KILLED;
        case RESTART -> What.RESTARTED;
        case PARTITION -> What.CUT;
        case CLOCK -> What.STEPPED;
        case FAILOVER -> What.FAILED_OVER;
      };
    }

    /** Whether it needs a server of our own. */
    boolean isTheServers() {
      return this == RESTART || this == PARTITION || this == CLOCK;
    }
  }
}
