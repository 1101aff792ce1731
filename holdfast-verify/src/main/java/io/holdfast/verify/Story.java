// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Tells a violation in words: which process held the lock when, from the grant that it begins with. */
final class Story {
  private static final int MOST_LINES = 12;

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
    Fact ownGrant = told.isEmpty() ? end : told.get(0);
    int tooMany = told.size() + 1 - MOST_LINES;
    // one more, for the line that says so
    int leftOut = tooMany > 0 ? tooMany + 1 : 0;
    List<String> lines = new ArrayList<>();
    int skipped = 0;
    for (Fact each : told) {
      if (skipped < leftOut && each != ownGrant && !each.worker().equals(end.worker())) {
        skipped++;
        if (skipped == 1) {
          lines.add("         ... (" + leftOut + " more)");
        }
      } else {
        lines.add(line(each, began));
      }
    }
    lines.add(Violation.seconds(end.at() - began) + "  " + end(violation) + "  <- "
        + violation.invariant().breach());
    return lines.size() <= MOST_LINES
        ? lines
        : lines.subList(lines.size() - MOST_LINES, lines.size());
  }

  /** Where the violator got the lock; else, as where a lock cannot be had, where it was got for the last time. */
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
      case VALID -> "worker " + fact.worker() + " looks, and believes that it has the lock";
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
      case REFUSED -> "the resource refuses a write of " + worker + ", for its token is old";
      case RELEASED -> worker + " releases the lock";
      case NOT_MINE -> worker + " releases the lock, and is told that it is not its own";
      case TOO_LATE -> worker + " releases the lock, and is told that its lease is over";
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
          RELEASING,
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
