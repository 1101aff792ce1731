// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Judges a record, in one pass in the order of time. Grants of one lock are ordered by their tokens, which the store gave;
 * where a protocol has none, by when its callers had the lock.
 *
 * <p>Times are readings of one machine's monotonic clock, taken on the side that makes a verdict certain: before a hold is
 * asked whether it is valid, after it was acquired. So a hold that says it is valid at a time when a later grant was
 * already in somebody's hands is no matter of clocks.
 */
final class Judgement {
  private final ServerTroubles troubles;
  private final List<Violation> violations = new ArrayList<>();
  private final Set<String> endedByAStep = new HashSet<>();
  private final Map<String, Seen> locks = new HashMap<>();
  private final Map<String, HoldSeen> holds = new HashMap<>();
  private final Set<String> paused = new HashSet<>();
  private final Set<String> killed = new HashSet<>();

  /** What is known of a lock. */
  private static final class Seen {
    long highestOrder = Long.MIN_VALUE;
    String highest = "";
    long highestToken;
    long writtenOrder = Long.MIN_VALUE;
    String written = "";
  }

  /** What is known of a hold, or of the request for one. */
  private static final class HoldSeen {
    long tokenBefore;
    long order;
    String overlaps = "";
    boolean acquired;
    boolean over;
    boolean told;
    boolean disturbed;

    @Nullable
    Fact gone;

    @Nullable
    Fact invalid;
  }

  private Judgement(ServerTroubles troubles) {
    this.troubles = troubles;
  }

  /** Judges a run on somebody else's server: returns where the record shows that something was broken. */
  static List<Violation> of(List<Fact> facts) {
    return of(facts, ServerTroubles.none()).violations();
  }

  static Judgement of(List<Fact> facts, ServerTroubles troubles) {
    Judgement judgement = new Judgement(troubles);
    facts.forEach(judgement::see);
    return judgement;
  }

  List<Violation> violations() {
    return violations;
  }

  /** How many holds a step of the server's clock has ended under holders that could not know, as the store declares. */
  long endedByAStep() {
    return endedByAStep.size();
  }

  private void see(Fact fact) {
    switch (fact.what()) {
      case REQUESTED -> hold(fact).tokenBefore = lock(fact).highestToken;
      case ACQUIRED -> acquired(fact);
      case VALID -> valid(fact);
      case INVALID -> {
        hold(fact).over = true;
        hold(fact).invalid = fact;
      }
      case LOST -> lost(fact);
      case ACCEPTED -> accepted(fact);
      case NOT_MINE -> hold(fact).gone = fact;
      case KILLED -> killed.add(fact.worker());
      case END -> atTheEnd();
      case RENEWED_WRONGLY -> broken(Invariant.I8, fact, fact.text());
      case COUNTED_WRONGLY -> broken(Invariant.I10, fact, fact.text());
      case LEFT_BEHIND -> leftBehind(fact);
      case DIED -> broken(Invariant.I12, fact, "a worker ended: " + fact.text());
      case PAUSED -> {
        paused.add(fact.worker());
        disturb(fact.worker());
      }
      case RESUMED -> {
        disturb(fact.worker());
        paused.remove(fact.worker());
      }
      case BUSY,
          RELEASING,
          FAILED,
          AWAY,
          REFUSED,
          OVERWRITTEN,
          RELEASED,
          TOO_LATE,
          STARTED,
          QUIET,
          REENTERED,
          LEFT,
          RESTARTING,
          RESTARTED,
          CUT,
          HEALED,
          STEPPED,
          FAILING_OVER,
          FAILED_OVER,
          RENEWED,
          LOOKED_FOR -> {
        // counted, and nothing follows from it
      }
    }
  }

  private void acquired(Fact fact) {
    Seen lock = lock(fact);
    HoldSeen hold = hold(fact);
    hold.acquired = true;
    hold.disturbed |= paused.contains(fact.worker());
    hold.order = fact.token() == 0 ? fact.at() : fact.token();
    if (fact.token() != 0) {
      if (fact.token() <= hold.tokenBefore) {
        broken(
            Invariant.I3,
            fact,
            "token " + fact.token() + " was given after " + hold.tokenBefore + " had been");
      }
      lock.highestToken = Math.max(lock.highestToken, fact.token());
    }
    if (hold.order > lock.highestOrder) {
      lock.highestOrder = hold.order;
      lock.highest = fact.key();
    } else if (hold.order == lock.highestOrder) {
      broken(
          Invariant.I3, fact, "token " + fact.token() + " is also that of " + nameOf(lock.highest));
    }
  }

  private void valid(Fact fact) {
    HoldSeen hold = hold(fact);
    Seen lock = lock(fact);
    if (hold.over) {
      broken(Invariant.I9, fact, "it is valid again");
    }
    if (hold.acquired && hold.order < lock.highestOrder && !lock.highest.equals(hold.overlaps)) {
      // it goes on to believe: once for each that it overlaps is enough
      hold.overlaps = lock.highest;
      if (troubles.stepMayHaveEnded(fact.at())) {
        endedByAStep.add(fact.key());
        return;
      }
      broken(
          Invariant.I1,
          fact,
          "it believes in its hold, and " + nameOf(lock.highest) + " has the lock already");
    }
  }

  private void lost(Fact fact) {
    HoldSeen hold = hold(fact);
    if (hold.told) {
      broken(Invariant.I9, fact, "its loss was told twice");
    }
    hold.told = true;
    hold.over = true;
  }

  private void accepted(Fact fact) {
    HoldSeen hold = hold(fact);
    Seen lock = lock(fact);
    if (hold.order < lock.writtenOrder) {
      broken(
          Invariant.I4,
          fact,
          "the resource took its write after that of " + nameOf(lock.written)
              + ", which got the lock later");
    } else {
      lock.writtenOrder = hold.order;
      lock.written = fact.key();
    }
  }

  /**
   * What is told on another thread, and so perhaps a little later: a hold that was gone at its release, or was seen to be
   * invalid, was told to be lost. If it was not, somebody has ended what was not his, or a loss was not told. Whoever was
   * stopped or killed meanwhile may have missed it.
   */
  private void atTheEnd() {
    holds.forEach((key, hold) -> {
      if (hold.told || hold.disturbed) {
        return;
      }
      Fact gone = hold.gone;
      Fact invalid = hold.invalid;
      if (invalid != null && !killed.contains(invalid.worker())) {
        broken(Invariant.I9, invalid, "its loss was never told");
      } else if (gone != null && !killed.contains(gone.worker())) {
        if (troubles.stepMayHaveEnded(gone.at())) {
          endedByAStep.add(key);
        } else if (!troubles.wasAwayBefore(gone.at())) {
          broken(Invariant.I6, gone, "it was gone at its release, and no loss was told");
        }
      }
    });
  }

  private void leftBehind(Fact fact) {
    if (fact.lock().isEmpty()) {
      broken(Invariant.I7, fact, "the store still has " + fact.text());
    } else {
      broken(
          Invariant.I5,
          fact,
          "this process could not take the lock in time, although the faults had ended");
    }
  }

  private void disturb(String worker) {
    holds.forEach((key, hold) -> {
      if (key.startsWith(worker + "#")) {
        hold.disturbed = true;
      }
    });
  }

  private void broken(Invariant invariant, Fact fact, String what) {
    violations.add(new Violation(invariant, what, fact));
  }

  /** A hold by its {@link Fact#key}, for people. */
  private static String nameOf(String key) {
    return "worker " + key.replace("#", " (hold ") + ")";
  }

  private Seen lock(Fact fact) {
    return locks.computeIfAbsent(fact.lock(), name -> new Seen());
  }

  private HoldSeen hold(Fact fact) {
    return holds.computeIfAbsent(fact.key(), key -> new HoldSeen());
  }
}
