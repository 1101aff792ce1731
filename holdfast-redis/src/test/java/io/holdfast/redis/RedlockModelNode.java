// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A node in memory: the same rules as {@code redlock-*.lua}, line by line, and answers of the same form without the
 * time. {@link RedlockModelTest} compares the two. A flaw changes one of the rules.
 */
final class RedlockModelNode {
  private final RedlockRule rule;
  private final RedlockFlaw flaw;
  private Map<String, Vote> votes = new HashMap<>();
  private String identity;
  private String markedAs = "";
  private long begins;

  private static final class Vote {
    long last;
    long number;
    String claim = "";
    long till;
    long since;
    String holder = "";
    final Map<String, Long> waiters = new TreeMap<>();
  }

  /** What to ask an attempt with. */
  record Ask(
      String claim,
      long number,
      boolean queue,
      long giveUpAt,
      long lease,
      String holder,
      long waiterLease) {}

  RedlockModelNode(RedlockRule rule, RedlockFlaw flaw, String identity) {
    this.rule = rule;
    this.flaw = flaw;
    this.identity = identity;
  }

  /** It has been there for long. */
  void mayVote() {
    markedAs = identity;
    begins = 0;
  }

  /** Everything is gone, the marker too. */
  void flush() {
    votes = new HashMap<>();
    if (flaw != RedlockFlaw.NO_MARKER) {
      markedAs = "";
    }
  }

  /** It comes back as another run, with nothing. */
  void restart(String as) {
    votes = new HashMap<>();
    markedAs = "";
    identity = as;
  }

  /** Somebody else's mark, as an old snapshot has it. */
  void markAs(String as) {
    markedAs = as;
  }

  private long abstainsFor(long now, long askersLease) {
    if (!markedAs.equals(identity)) {
      markedAs = identity;
      begins = now + waits(askersLease);
    }
    return Math.max(0, begins - now);
  }

  private long waits(long askersLease) {
    return switch (flaw) {
      case WAITS_FOR_A_LEASE -> rule.maxLeaseMicros() + 10_000;
      case WAITS_FOR_THE_ASKERS_LEASE -> Math.max(askersLease, 2 * rule.reachMicros());
      default -> rule.abstainsMicros();
    };
  }

  private Vote load(String name, long now) {
    Vote vote = votes.computeIfAbsent(name, key -> new Vote());
    if (flaw == RedlockFlaw.LAST_ENDS_WITH_THE_LEASE && vote.till <= now) {
      vote.last = 0;
    }
    return vote;
  }

  List<String> attempt(long now, String name, Ask ask) {
    if (now > ask.giveUpAt) {
      return List.of("L");
    }
    long left = abstainsFor(now, ask.lease);
    if (left > 0) {
      return List.of("N", text(left));
    }
    Vote vote = load(name, now);
    boolean taken = vote.till > now;
    boolean own = taken && vote.claim.equals(ask.claim);
    if (taken && !own) {
      if (ask.queue) {
        vote.waiters.put(ask.claim, now + ask.waiterLease);
      }
      return List.of("H", vote.claim, text(vote.number), text(vote.till - now), vote.holder);
    }
    long number = flaw == RedlockFlaw.NUMBERS_OF_THE_NODES
        ? own ? vote.number : Math.max(vote.last + 1, now)
        : ask.number;
    if (Math.abs(number - now) > rule.reachMicros()) {
      return List.of("F");
    }
    if (!(own && number == vote.number)) {
      if (number <= vote.last) {
        return List.of("S", text(vote.last));
      }
      vote.last = number;
      vote.number = number;
      vote.claim = ask.claim;
      vote.since = now;
      vote.holder = ask.holder;
    }
    vote.till = now + ask.lease;
    vote.waiters.remove(ask.claim);
    return flaw == RedlockFlaw.NUMBERS_OF_THE_NODES
        ? List.of("A", text(number))
        : List.of("A", othersWait(vote, now));
  }

  List<String> keep(long now, String name, String claim, long number, long lease) {
    long left = abstainsFor(now, lease);
    if (left > 0) {
      return List.of("N");
    }
    Vote vote = load(name, now);
    if (vote.till <= now || !vote.claim.equals(claim) || vote.number != number) {
      return List.of("N");
    }
    vote.till = now + lease;
    return List.of("H " + othersWait(vote, now));
  }

  List<String> end(long now, String name, String claim, long number, long keepFor) {
    Vote vote = load(name, now);
    vote.waiters.remove(claim);
    String found = "N";
    if (vote.till > now && vote.claim.equals(claim) && vote.number <= number) {
      found = "R";
      clear(vote, vote.since + keepFor > now ? vote.since + keepFor : 0);
    }
    vote.last = Math.max(vote.last, number);
    tell(vote, now);
    return List.of(found, othersWait(vote, now));
  }

  List<String> evict(long now, String name, long number) {
    Vote vote = load(name, now);
    String ended = "0";
    if (vote.till > now && vote.number == number) {
      ended = "1";
      clear(vote, 0);
    }
    vote.last = Math.max(vote.last, number);
    tell(vote, now);
    return List.of(ended);
  }

  List<String> inspect(long now, String name) {
    Vote vote = load(name, now);
    long living = vote.waiters.values().stream().filter(till -> till > now).count();
    return List.of(
        text(vote.number),
        vote.claim,
        text(vote.till),
        text(vote.since),
        vote.holder,
        text(living));
  }

  private static void clear(Vote vote, long till) {
    vote.claim = "";
    vote.till = till;
    vote.holder = "";
  }

  private static String othersWait(Vote vote, long now) {
    return vote.waiters.values().stream().anyMatch(till -> till > now) ? "1" : "0";
  }

  private static void tell(Vote vote, long now) {
    if (vote.till > now) {
      return;
    }
    vote.waiters.values().removeIf(till -> till <= now);
    // of equal scores, a sorted set has the first by name in front
    Map.@Nullable Entry<String, Long> first = null;
    for (Map.Entry<String, Long> each : vote.waiters.entrySet()) {
      if (first == null || each.getValue() < first.getValue()) {
        first = each;
      }
    }
    if (first != null) {
      vote.waiters.remove(first.getKey());
    }
  }

  private static String text(long number) {
    return Long.toString(number);
  }
}
