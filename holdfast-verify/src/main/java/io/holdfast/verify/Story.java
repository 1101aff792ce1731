// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Tells a violation in words: which process held the lock when, from the grant that it begins with. */
final class Story {
  private static final int MOST_LINES = 12;

  /** Of a story that is too long; with one grant, two gaps at most, and the violation they are twelve. */
  private static final int FIRST_LINES = 3;

  private static final int LAST_LINES = 5;

  private Story() {}

  /**
   * Tells a violation.
   *
   * @param facts all that happened, in the order of time
   * @param began what times count from
   * @return at most twelve lines, the last of which is the violation; empty if it has no lock
   */
  static List<String> of(Violation violation, List<Fact> facts, long began) {
    Fact end = violation.fact();
    if (end.lock().isEmpty()) {
      return List.of();
    }
    List<Fact> before = facts.subList(0, Math.max(facts.indexOf(end), 0));
    List<Fact> told = told(before.subList(beginning(before, end), before.size()), end.lock());
    Set<Fact> kept = kept(told, end);
    List<String> lines = new ArrayList<>();
    int leftOut = 0;
    for (Fact each : told) {
      if (kept.contains(each)) {
        if (leftOut > 0) {
          lines.add("         ... (" + leftOut + " more)");
          leftOut = 0;
        }
        lines.add(line(each, began));
      } else {
        leftOut++;
      }
    }
    lines.add(Violation.seconds(end.at() - began) + "  " + end(violation) + "  <- "
        + violation.invariant().breach());
    return lines;
  }

  /**
   * What is told of a long story: how it began, the grant that came in between, and its end; each gap is a line of its own. The first
   * lines are those of the violator.
   */
  private static Set<Fact> kept(List<Fact> told, Fact end) {
    if (told.size() < MOST_LINES) {
      return new HashSet<>(told);
    }
    Set<Fact> kept = new HashSet<>();
    told.stream().limit(FIRST_LINES).forEach(kept::add);
    told.stream()
        .filter(each -> each.what() == What.ACQUIRED && !each.key().equals(end.key()))
        .reduce((earlier, later) -> later)
        .ifPresent(kept::add);
    told.subList(told.size() - LAST_LINES, told.size()).forEach(kept::add);
    return kept;
  }

  /** Where the violator got the lock; if it did not, where the lock was got for the last time. */
  private static int beginning(List<Fact> before, Fact end) {
    int last = before.size();
    for (int i = before.size() - 1; i >= 0; i--) {
      Fact each = before.get(i);
      if (isGrant(each, end.lock()) && each.key().equals(end.key())) {
        return i;
      }
      if (isGrant(each, end.lock()) && last == before.size()) {
        last = i;
      }
    }
    return last;
  }

  /** What is told of these: what its holders did with the lock, and what was done to them and to the server. */
  private static List<Fact> told(List<Fact> facts, String lock) {
    List<Fact> told = new ArrayList<>();
    Set<String> holders = new HashSet<>();
    for (Fact each : facts) {
      if (isGrant(each, lock)) {
        holders.add(each.worker());
      }
      boolean concerns = each.lock().equals(lock) || each.lock().isEmpty();
      boolean isKnown = each.worker().isEmpty() || holders.contains(each.worker());
      if (concerns && isKnown && !words(each).isEmpty()) {
        told.add(each);
      }
    }
    return told;
  }

  private static boolean isGrant(Fact fact, String lock) {
    return fact.what() == What.ACQUIRED && fact.lock().equals(lock);
  }

  private static String end(Violation violation) {
    Fact fact = violation.fact();
    return switch (fact.what()) {
      case ACQUIRED -> words(fact) + ": " + violation.what();
      case VALID -> "worker " + fact.worker() + " looks, and still believes that it has the lock";
      case LEFT_BEHIND ->
        "worker " + fact.worker() + " could not get the lock, though there were no faults any more";
      default -> {
        String words = words(fact);
        yield words.isEmpty() ? "worker " + fact.worker() + ": " + violation.what() : words;
      }
    };
  }

  private static String line(Fact fact, long began) {
    return Violation.seconds(fact.at() - began) + "  " + words(fact);
  }

  /** What is told of a fact; empty if nothing is. */
  static String words(Fact fact) {
    String worker = "worker " + fact.worker();
    return switch (fact.what()) {
      case ACQUIRED ->
        worker + " gets the lock" + (fact.token() == 0 ? "" : ", token " + fact.token());
      case INVALID -> worker + " looks, and knows that it does not have the lock any more";
      case LOST -> worker + " is told that it has lost the lock";
      case ACCEPTED -> "the resource takes a write of " + worker;
      case REFUSED -> "the resource refuses a write of " + worker + ", because its token is older";
      case RELEASING -> worker + " releases the lock";
      case NOT_MINE -> worker + " is told that the lock is not its own any more";
      case TOO_LATE -> worker + " is told that its lease was over";
      case PAUSED -> worker + " is stopped";
      case RESUMED -> worker + " goes on";
      case KILLED -> worker + " is killed";
      case DIED -> worker + " ends by itself";
      case RESTARTING -> "the server is killed";
      case RESTARTED -> "the server answers again";
      case CUT -> "the server is cut off";
      case HEALED -> "the server can be reached again";
      case STEPPED -> "the server's clock is set";
      case FAILING_OVER -> "the replicas fall behind, and a failover is asked for";
      case FAILED_OVER -> "another server is the primary";
      case QUIET -> "no more faults from here on";
      case REQUESTED,
          BUSY,
          FAILED,
          VALID,
          OVERWRITTEN,
          RELEASED,
          RENEWED,
          RENEWED_WRONGLY,
          COUNTED_WRONGLY,
          STARTED,
          REENTERED,
          LEFT,
          LOOKED_FOR,
          LEFT_BEHIND,
          AWAY,
          END -> "";
    };
  }
}
