// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.spi.Spelling;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A way to lock: ours, or one of those that essays and textbooks have, each with the violation that it is known for. The
 * others are here to show that the judge catches what is wrong; they are of no other use. They are in the order of
 * docs/schemes.md: from the first flawed one of each kind of server to the one that is nearly right.
 */
public enum Protocol {
  /** Ours. */
  HOLDFAST(Kind.ANY, null, "Holdfast itself: leases, renewal, tokens, owner-checked release."),

  /** A row, and nothing ends it. */
  SQL_NO_EXPIRY(
      Kind.SQL,
      Invariant.I5,
      "INSERT of a row with a unique name takes the lock, DELETE frees it. If a holder is killed, its row stays, and"
          + " the lock with it, until the row is deleted by hand."),

  /** A row with an end and without an owner. */
  SQL_NO_OWNER(
      Kind.SQL,
      Invariant.I1,
      "The row has a time at which it ends, and the next client deletes it after that (the cleaning job). But it does not"
          + " say whose it is, and the release deletes it by its name: a holder that is late frees the lock of its"
          + " successor, and a third client comes in."),

  /** A version column that is read and not compared. */
  SQL_UNCHECKED_VERSION(
      Kind.SQL,
      Invariant.I1,
      "SELECT reads the row; if the lock is free, UPDATE takes it and raises the version, but does not say"
          + " WHERE version = the one that was read. Two clients read the same free row, and both take it. All else is"
          + " right: it has an owner's version, and no holder believes in it for longer than its lease. (Here 20 ms pass"
          + " between the two statements, as on a slow network.)"),

  /** {@code SETNX} and nothing more. */
  REDIS_SETNX(
      Kind.REDIS,
      Invariant.I5,
      "SETNX takes the lock, DEL frees it, and nothing ends it. If a holder is killed, the lock stays taken until"
          + " the key is deleted by hand."),

  /** {@code SETNX}, then {@code EXPIRE}. */
  REDIS_SETNX_EXPIRE(
      Kind.REDIS,
      Invariant.I1,
      "SETNX takes the lock, and EXPIRE, the next command, gives it an end. A process that is killed between the two leaves"
          + " a lock without an end. (Here 20 ms pass between them, as on a slow network.) And as nothing renews the"
          + " lease, it ends under a holder that is late, whose DEL then frees the lock of its successor."),

  /** {@code SETNX} and {@code PEXPIRE} in one script. */
  REDIS_SETNX_SCRIPT(
      Kind.REDIS,
      Invariant.I1,
      "A script does SETNX and PEXPIRE in one step, so that no lock is without an end. But DEL frees the lock of any"
          + " holder: one that is late frees the lock of its successor, and a third client comes in."),

  /** The deadline is the value. */
  REDIS_GETSET_DEADLINE(
      Kind.REDIS,
      Invariant.I1,
      "The value is the time at which the lock ends, by its holder's own clock. A client that finds it passed writes its own"
          + " time with GETSET, and has the lock if GETSET returns the value that it has read. A holder that is late does"
          + " not look again; a loser's GETSET moves the winner's end; and DEL frees the lock of any holder."),

  /** {@code SET NX PX}, freed by {@code DEL}. */
  REDIS_DEL(
      Kind.REDIS,
      Invariant.I1,
      "SET NX PX takes the lock, and DEL frees it for any client. A holder that is late frees the lock of its successor,"
          + " and a third client comes in."),

  /** {@code SET NX PX}, freed after a look. */
  REDIS_GET_DEL(
      Kind.REDIS,
      Invariant.I1,
      "The release reads the value and, if it is still its own, deletes the key: two commands. Between them the lease can"
          + " end and the lock pass on; DEL then frees the lock of the successor. (Here 20 ms pass between them, as on a"
          + " slow network.)"),

  /** {@code SET NX PX} and an owner-checked script. */
  REDIS_NO_RENEWAL(
      Kind.REDIS,
      Invariant.I1,
      "SET NX PX, freed by a script that checks the owner: what most essays end with. The lease ends under a holder that is"
          + " slow, which is not told, and nothing stops its write, which overwrites what its successor wrote."),

  /** A lock at the primary, lost in a failover. */
  REDIS_FAILOVER(
      Kind.SENTINEL,
      Invariant.I1,
      "SET NX PX at the primary that the sentinels name, freed by a script that checks the owner, and no holder believes in"
          + " it for longer than its lease. But replication is asynchronous: what the replica had not received when it"
          + " became the primary is gone, and the next client gets the lock beside the first. (Needs --faults failover,"
          + " which lets the replicas fall behind by a lease and asks the sentinels for a failover.)"),

  /** Most of several servers, and no look at the time that it took. */
  REDLOCK_NO_ELAPSED(
      Kind.REDLOCK,
      Invariant.I1,
      "SET NX PX at each of several servers; the client that has most of them has the lock, for the length of a lease from"
          + " then on. But the leases began when the servers were asked. If the last answer takes long, or the client is"
          + " stopped before it reads it, they have ended when it begins to believe in them, and another client has the"
          + " lock. (Here one attempt in four waits for its last answer for a lease and a quarter, as for a server that"
          + " swaps.)"),

  /** An ephemeral node, and no look at the session. */
  ZOOKEEPER_NO_SESSION(
      Kind.ZOOKEEPER,
      Invariant.I1,
      "The client that has created the ephemeral node has the lock, and goes on until it deletes it. But the node lives as"
          + " long as the session: if the client is stopped for longer than the session's timeout, the server removes the"
          + " node, another client creates it, and the first one, which does not look whether its session has expired,"
          + " works on beside it.");

  private static final long SLOW_NETWORK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Kind kind;
  private final @Nullable Invariant breaks;
  private final String text;

  /** What a protocol is for. */
  private enum Kind {
    ANY("Holdfast"),
    SQL("Databases"),
    REDIS("Redis"),
    SENTINEL("Redis"),
    REDLOCK("Redis"),
    ZOOKEEPER("ZooKeeper");

    private final String chapter;

    Kind(String chapter) {
      this.chapter = chapter;
    }
  }

  Protocol(Kind kind, @Nullable Invariant breaks, String text) {
    this.kind = kind;
    this.breaks = breaks;
    this.text = text;
  }

  /**
   * Finds a protocol by its name for people.
   *
   * @param name the name, for example {@code redis-setnx}, or that of the constant
   * @return the protocol
   * @throws IllegalArgumentException if there is none; the message names all
   */
  public static Protocol of(String name) {
    return Arrays.stream(values())
        .filter(each -> each.label().equals(name) || each.name().equals(name))
        .findAny()
        .orElseThrow(() -> new IllegalArgumentException("there is no protocol " + name + "; "
            + Spelling.nearest(name, labels())
                .map(meant -> "did you mean " + meant + "?")
                .orElseGet(() -> "there are " + String.join(", ", labels()))));
  }

  private static List<String> labels() {
    return Arrays.stream(values()).map(Protocol::label).toList();
  }

  /**
   * Returns the name for people.
   *
   * @return for example {@code redis-setnx}
   */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Returns the part of docs/schemes.md that has the protocol.
   *
   * @return for example {@code Redis}
   */
  public String chapter() {
    return kind.chapter;
  }

  /**
   * Returns what is known of the protocol.
   *
   * @return a paragraph
   */
  public String text() {
    return text;
  }

  /**
   * Returns what the protocol is known to break.
   *
   * @return for example {@link Invariant#I1}, which every run should show; empty for ours
   */
  public Optional<Invariant> breaks() {
    return Optional.ofNullable(breaks);
  }

  /**
   * Says whether the protocol can be run on a store.
   *
   * @param uri the store's address
   * @return whether it is one for stores of this kind
   */
  public boolean fits(String uri) {
    return switch (kind) {
      case ANY -> true;
      case REDIS -> uri.startsWith("redis:") || uri.startsWith("rediss:");
      case SQL -> SqlLocker.takes(uri);
      case ZOOKEEPER -> uri.startsWith("zookeeper://") && isPlain(uri);
      case SENTINEL -> Sentinels.areIn(uri);
      case REDLOCK -> uri.startsWith("redlock://") && isPlain(uri);
    };
  }

  private static boolean isPlain(String uri) {
    return !uri.contains("holdfast.tls=true");
  }

  /**
   * Says whether the protocol shows its flaw in a failover only.
   *
   * @return whether a run needs {@link VerifySettings.Fault#FAILOVER}
   */
  public boolean needsFailover() {
    return kind == Kind.SENTINEL;
  }

  /** Opens a process's way to the locks; {@code renewals} hears of Holdfast's only, for the others renew nothing. */
  Locker open(String uri, Duration lease, WatchedStore.Renewals renewals) {
    return switch (kind) {
      case ANY -> new HoldfastLocker(uri, lease, renewals);
      case REDIS -> new RedisLocker(this, uri, lease);
      case SQL -> new SqlLocker(this, uri, lease);
      case ZOOKEEPER -> new ZooKeeperLocker(uri, lease);
      case SENTINEL -> new SentinelLocker(uri, lease);
      case REDLOCK -> new RedlockLocker(uri, lease);
    };
  }

  /** Removes what the protocol leaves in a store. */
  void cleanUp(String uri, List<String> locks) {
    try (Locker locker = open(uri, Duration.ofSeconds(1), WatchedStore.Renewals.UNHEARD)) {
      if (locker instanceof Cleaning cleaning) {
        cleaning.remove(locks);
      }
    }
  }

  /** What lies between two commands of a flawed lock, so that its flaw shows soon. */
  static void passASlowNetwork() {
    LockSupport.parkNanos(SLOW_NETWORK_NANOS);
  }

  /** A way to lock that leaves something behind. */
  interface Cleaning {
    void remove(List<String> locks);
  }
}
