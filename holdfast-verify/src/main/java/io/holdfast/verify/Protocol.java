// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A way to lock: ours, or one of those that textbooks and blogs have, each with the violation that it is known for. The
 * others are here so that the judge is seen to catch what is wrong; nobody should use them for anything else.
 */
public enum Protocol {
  /** Ours. */
  HOLDFAST(Kind.ANY, "", "Holdfast itself: leases, renewal, tokens, owner-checked release."),

  /** {@code SETNX} and nothing more. */
  REDIS_SETNX(
      Kind.REDIS,
      "I5",
      "SETNX takes the lock, DEL frees it, and nothing ends it. A holder that is killed takes the lock along: nobody ever"
          + " gets it again, until somebody deletes the key by hand."),

  /** {@code SETNX}, then {@code EXPIRE}. */
  REDIS_SETNX_EXPIRE(
      Kind.REDIS,
      "I1",
      "SETNX takes the lock, and EXPIRE, the next command, gives it an end. A process that is killed between the two leaves"
          + " a lock without an end. (Here 20 ms pass between them, as on a slow network.) And it has the flaws of a lease"
          + " that nobody renews."),

  /** The deadline is the value. */
  REDIS_GETSET_DEADLINE(
      Kind.REDIS,
      "I1",
      "The value is the time at which the lock ends, by its holder's own clock; who finds it passed takes the lock with"
          + " GETSET. A holder that is late does not look again, several take over one after another, and each"
          + " GETSET, the losers' too, moves the winner's end. And DEL frees whoever has it."),

  /** {@code SET NX PX}, freed by {@code DEL}. */
  REDIS_DEL(
      Kind.REDIS,
      "I1",
      "SET NX PX takes the lock, DEL frees it, whoever has it. A holder that is late frees the lock of its successor, and"
          + " a third comes in beside him."),

  /** {@code SET NX PX}, freed after a look. */
  REDIS_GET_DEL(
      Kind.REDIS,
      "I1",
      "The release looks whether the value is still its own, and then deletes the key, in two commands. Between them the"
          + " lease can end and the lock pass on; the DEL then frees the successor's. (Here 20 ms pass between them, as on"
          + " a slow network.)"),

  /** {@code SET NX PX} and an owner-checked script. */
  REDIS_NO_RENEWAL(
      Kind.REDIS,
      "I1",
      "SET NX PX, freed by a script that checks the owner: what most blogs end with. The lease ends under a holder that is"
          + " slow, nobody tells him, and nothing stops his write, which overwrites what his successor wrote."),

  /** A row, and nothing ends it. */
  SQL_NO_EXPIRY(
      Kind.SQL,
      "I5",
      "INSERT of a row with a unique name takes the lock, DELETE frees it. A holder that is killed leaves the row, and"
          + " nobody ever gets the lock again."),

  /** A row with an end, freed by its name. */
  SQL_BY_NAME(
      Kind.SQL,
      "I1",
      "The row has an end and can be taken over after it, but the release deletes by name alone. A holder that is late"
          + " frees the lock of its successor, and a third comes in beside him."),

  /** An ephemeral node, and no look at the session. */
  ZOOKEEPER_NO_SESSION(
      Kind.ZOOKEEPER,
      "I1",
      "Who has created the ephemeral node has the lock, and goes on until he deletes it. But the node lives as long as"
          + " the session: when its client is stopped for longer than the session's timeout, the server removes it,"
          + " somebody else creates it, and the first one, who does not look whether his session has expired, works on"
          + " beside him."),

  /** A lock at the primary, lost in a failover. */
  REDIS_FAILOVER(
      Kind.SENTINEL,
      "I1",
      "SET NX PX at the primary that the sentinels name; freed by a script that checks the owner; and nobody believes in"
          + " a hold for longer than its lease. But replication is asynchronous: what the replica had not heard of when"
          + " it became the primary never was, and it gives the lock to the next one who asks, beside the first."
          + " (Needs --faults failover, which lets the replicas fall behind by a lease and asks the sentinels for a"
          + " failover.)"),

  /** Most of several servers, and no look at the time that it took. */
  REDLOCK_NO_ELAPSED(
      Kind.REDLOCK,
      "I1",
      "SET NX PX at each of several servers; who has it at most of them has the lock, for the length of a lease from then"
          + " on. But the leases began when the servers were asked. Where the last answer takes long, or the client is"
          + " stopped before he reads it, they have ended when he begins to believe in them, and others have the lock"
          + " already. (Here one locking in four waits for its last answer for a lease and a quarter, as for a server"
          + " that swaps.)");

  private final Kind kind;
  private final String breaks;
  private final String text;

  /** What a protocol is for. */
  private enum Kind {
    ANY,
    REDIS,
    SQL,
    ZOOKEEPER,
    SENTINEL,
    REDLOCK
  }

  Protocol(Kind kind, String breaks, String text) {
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
        .orElseThrow(
            () -> new IllegalArgumentException("there is no protocol " + name + "; there are "
                + Arrays.stream(values()).map(Protocol::label).collect(Collectors.joining(", "))));
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
   * @return for example {@code I1}, which every run should show; none for ours
   */
  public List<String> breaks() {
    return breaks.isEmpty() ? List.of() : List.of(breaks);
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

  Locker open(String uri, Duration lease, Consumer<String> renewedWrongly) {
    return switch (kind) {
      case ANY -> new HoldfastLocker(uri, lease, renewedWrongly);
      case REDIS -> new RedisLocker(this, uri, lease);
      case SQL -> new SqlLocker(this, uri, lease);
      case ZOOKEEPER -> new ZooKeeperLocker(uri, lease);
      case SENTINEL -> new SentinelLocker(uri, lease);
      case REDLOCK -> new RedlockLocker(uri, lease);
    };
  }

  /** Removes what the protocol leaves in a store. */
  void cleanUp(String uri, List<String> locks) {
    try (Locker locker = open(uri, Duration.ofSeconds(1), wrong -> {})) {
      if (locker instanceof Cleaning cleaning) {
        cleaning.remove(locks);
      }
    }
  }

  /** What leaves something behind. */
  interface Cleaning {
    void remove(List<String> locks);
  }
}
