// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Holder;
import io.holdfast.redis.RedlockVote.Kind;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the nodes' answers to one proposal mean. All votes are for the same number: answers to different numbers are
 * never counted together.
 */
final class RedlockTally {
  enum Decision {
    /** Not certain yet; more answers may come. */
    OPEN,
    /** A majority accepted the number. */
    GRANTED,
    /** Another claim has it, or may have it and has been there before. */
    BUSY,
    /** Nobody has a majority, and others have votes: let go, pause, propose again. */
    SPLIT,
    /** Nobody has votes: propose a number that the nodes can accept. */
    AGAIN,
    /** It came after its time and was applied nowhere. */
    LATE,
    /** Too few nodes can vote, or said whether they did. */
    TOO_FEW
  }

  /** A claim of somebody else, with its number; the claim is empty if the vote is kept. */
  record Other(String claim, long number) {}

  private final List<@Nullable RedlockVote> votes;
  private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
  private final int silent;
  private @Nullable Other first;
  private int firstVotes;

  /** Counts the votes; null stands for a node that has not answered. */
  RedlockTally(List<@Nullable RedlockVote> votes) {
    this.votes = votes;
    int unanswered = 0;
    Map<Other, Integer> others = new HashMap<>();
    for (RedlockVote vote : votes) {
      if (vote == null) {
        unanswered++;
        continue;
      }
      counts.merge(vote.kind(), 1, Integer::sum);
      if (vote.kind() == Kind.HELD) {
        Other other = new Other(vote.claim(), vote.number());
        int count = others.merge(other, 1, Integer::sum);
        if (count > firstVotes) {
          firstVotes = count;
          first = other;
        }
      }
    }
    this.silent = unanswered;
  }

  private int count(Kind kind) {
    return counts.getOrDefault(kind, 0);
  }

  /**
   * Decides.
   *
   * @param over whether silent nodes are waited for no longer
   * @param before who had the most votes of others when this claim asked the last time
   */
  Decision decide(boolean over, @Nullable Other before) {
    int majority = votes.size() / 2 + 1;
    int accepted = count(Kind.ACCEPTED);
    if (accepted >= majority) {
      return Decision.GRANTED;
    }
    if (firstVotes >= majority) {
      return Decision.BUSY;
    }
    if (silent > 0 && !over) {
      return Decision.OPEN;
    }
    int unheard = silent + count(Kind.UNKNOWN) + count(Kind.FAILED);
    boolean mayHaveIt = firstVotes + unheard + count(Kind.ABSTAINS) >= majority;
    if (mayHaveIt && Objects.equals(first, before) && first != null && isHeard(unheard, majority)) {
      return Decision.BUSY;
    }
    int held = count(Kind.HELD);
    if (accepted + held + count(Kind.STALE) + count(Kind.FAR) >= majority) {
      return held > 0 ? Decision.SPLIT : Decision.AGAIN;
    }
    return count(Kind.LATE) > 0 && isNowhere() ? Decision.LATE : Decision.TOO_FEW;
  }

  private boolean isHeard(int unheard, int majority) {
    return votes.size() - unheard >= majority;
  }

  /** Says whether the proposal certainly left nothing at any node. */
  boolean isNowhere() {
    return silent + count(Kind.ACCEPTED) + count(Kind.UNKNOWN) == 0;
  }

  /** Returns who else has the most votes. */
  @Nullable
  Other first() {
    return first;
  }

  Optional<Holder> holder() {
    for (RedlockVote vote : votes) {
      if (vote != null
          && vote.kind() == Kind.HELD
          && new Other(vote.claim(), vote.number()).equals(first)) {
        return vote.holder();
      }
    }
    return Optional.empty();
  }

  /** Returns when, by the leases that were told, a majority of the votes will be free: after so many microseconds. */
  long freeInMicros() {
    long[] left = votes.stream()
        .filter(Objects::nonNull)
        .filter(vote -> vote.kind() == Kind.HELD)
        .mapToLong(RedlockVote::leftMicros)
        .sorted()
        .toArray();
    int needed = votes.size() / 2 + 1 - (votes.size() - left.length);
    return needed <= 0 ? 0 : Math.max(0, left[needed - 1]);
  }

  boolean othersWait() {
    return votes.stream().anyMatch(vote -> vote != null && vote.othersWait());
  }

  /** Says for people why there was no majority. */
  String describe() {
    StringBuilder text =
        new StringBuilder("of " + votes.size() + " nodes, " + count(Kind.ACCEPTED) + " accepted");
    say(text, count(Kind.HELD), "have another claim");
    say(text, count(Kind.STALE), "saw a higher number");
    say(text, count(Kind.FAR), "have a clock too far from the others'");
    say(text, count(Kind.LATE), "were asked too late");
    say(text, silent + count(Kind.UNKNOWN) + count(Kind.FAILED), "did not answer or failed");
    say(text, count(Kind.ABSTAINS), "may have forgotten locks and do not vote");
    long left = majorityInMicros();
    if (left > 0) {
      text.append("; a majority can vote in ").append(left / 1_000_000 + 1).append(" s");
    }
    return text.toString();
  }

  /**
   * Returns the microseconds until enough abstaining nodes vote again to make up a majority; zero if the voting nodes are a
   * majority already, or if all abstaining nodes would not complete one.
   */
  long majorityInMicros() {
    int voting = count(Kind.ACCEPTED) + count(Kind.HELD) + count(Kind.STALE);
    int missing = votes.size() / 2 + 1 - voting;
    long[] left = votes.stream()
        .filter(vote -> vote != null && vote.kind() == Kind.ABSTAINS)
        .mapToLong(RedlockVote::leftMicros)
        .sorted()
        .toArray();
    return missing > 0 && missing <= left.length ? left[missing - 1] : 0;
  }

  private static void say(StringBuilder text, int count, String what) {
    if (count > 0) {
      text.append(", ").append(count).append(' ').append(what);
    }
  }

  /** Returns why nodes failed; null if none did. */
  @Nullable
  Throwable failure() {
    for (RedlockVote vote : votes) {
      if (vote != null && vote.failure() != null) {
        return vote.failure();
      }
    }
    return null;
  }
}
