// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Moment;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The claims that wait in the server, as far as they are known here: when each sent its last request that was answered
 * "still queued". A pushed grant came after that in the server, whatever any clock says, so that its lease is counted
 * from there.
 */
final class RedisWaits {
  /** How long a waiter lasts unrefreshed, and a pushed grant at most. */
  static final Duration LEASE = Duration.ofSeconds(5);

  /** The same, as scripts take it. */
  static final byte[] LEASE_ARGUMENT = RedisAnswer.argument(RedisClock.micros(LEASE));

  /** After the end of a lease that is awaited: for the server's rounding. */
  private static final long LOOK_LATER_NANOS = 1_000_000L;

  /** {@code claim revision lease othersWait}, as {@code lock.lua} publishes it. */
  private static final Pattern GRANTED =
      Pattern.compile("([0-9a-f]+-\\d{1,18}) (\\d{1,18}) (\\d{1,18}) ([01])");

  private static final System.Logger LOG = System.getLogger("io.holdfast.redis");

  private final StoreRuntime runtime;
  private final StoreEvents events;
  private final boolean confirms;
  private final Map<ClaimId, Wait> waits = new ConcurrentHashMap<>();

  /** One claim's. What is asked is counted within an atomic change of its entry. */
  private static final class Wait {
    volatile Queued last;
    volatile boolean lookIsComing;

    /** Attempts that are under way, or may have been applied without our knowing. */
    private int asked;

    private volatile boolean queued;

    Wait(Queued last) {
      this.last = last;
    }
  }

  /** When the last request was sent that was answered "still queued", and the lock's revision then. */
  private record Queued(Moment sent, long revision) {}

  /**
   * Makes an empty list.
   *
   * @param confirms whether a grant counts only when it was asked for once more, so that replicas can confirm it
   */
  RedisWaits(StoreRuntime runtime, StoreEvents events, boolean confirms) {
    this.runtime = runtime;
    this.events = events;
    this.confirms = confirms;
  }

  /** A claim is about to ask to be queued: the push may come before the answer. An earlier request's moment stays. */
  void asks(Claim claim, Moment sent) {
    waits.compute(claim.id(), (id, known) -> {
      Wait wait = known == null ? new Wait(new Queued(sent, 0)) : known;
      wait.asked++;
      return wait;
    });
  }

  /** What the claim asked was certainly not applied: nobody will end a claim of which nothing is left. */
  void notApplied(Claim claim) {
    waits.computeIfPresent(claim.id(), (id, wait) -> {
      wait.asked--;
      return wait.asked > 0 || wait.queued ? wait : null;
    });
  }

  /** The server answered that the claim waits; the lock had this revision then. */
  void queued(Claim claim, Moment sent, long revision) {
    Wait wait = waits.get(claim.id());
    if (wait == null) {
      return;
    }
    wait.queued = true;
    if (sent.nanos() - wait.last.sent.nanos() > 0) {
      wait.last = new Queued(sent, revision);
    }
  }

  /** Nothing is known of a claim: if it waits, it asks again. */
  void unknown(Claim claim) {
    if (waits.containsKey(claim.id())) {
      events.lookAgain(claim.id());
    }
  }

  /** Returns how many claims are known to wait. */
  int size() {
    return waits.size();
  }

  /** Whether the claim waits, as far as is known here: also once a message has granted it, until a renewal says so. */
  boolean isWaiting(Claim claim) {
    return waits.containsKey(claim.id());
  }

  /** The claim waits for nothing any more. */
  void over(Claim claim) {
    waits.remove(claim.id());
  }

  /** The first in line looks again when the holder's lease ends; later ones hear of it from there. */
  void lookWhenFree(Claim claim, boolean isFirst, long leftMicros) {
    Wait wait = waits.get(claim.id());
    if (wait == null || !isFirst || wait.lookIsComing || leftMicros > LEASE.toMillis() * 1000) {
      return;
    }
    wait.lookIsComing = true;
    runtime
        .scheduler()
        .schedule(
            () -> {
              wait.lookIsComing = false;
              if (waits.get(claim.id()) == wait) {
                events.lookAgain(claim.id());
              }
            },
            Math.max(0, leftMicros) * 1000 + LOOK_LATER_NANOS);
  }

  /** A message came on this client's channel. */
  void received(byte[] message) {
    Matcher granted = GRANTED.matcher(new String(message, StandardCharsets.US_ASCII));
    if (!granted.matches()) {
      LOG.log(System.Logger.Level.DEBUG, "a message that is not ours was ignored");
      return;
    }
    ClaimId id = ClaimId.parse(granted.group(1));
    Wait wait = waits.get(id);
    if (wait == null) {
      // ended meanwhile: its end gives back what it was granted
      return;
    }
    long revision = Long.parseLong(granted.group(2));
    Queued last = wait.last;
    if (revision <= last.revision) {
      // it tells of a grant that has lapsed since: the claim has queued again, and its moment is later than that grant
      return;
    }
    if (confirms) {
      events.lookAgain(id);
      return;
    }
    Duration lease = Duration.of(Long.parseLong(granted.group(3)), ChronoUnit.MICROS);
    boolean others = granted.group(4).equals("1");
    events.granted(id, new Grant(revision, last.sent, lease, others));
  }
}
