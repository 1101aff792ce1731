// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Holder;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What one node answered to a proposal. No vote at all is null wherever votes are listed.
 *
 * @param kind what it says
 * @param claim {@code HELD}: the other claim; empty if the vote is kept without a holder
 * @param number {@code HELD}: the number of that claim; {@code STALE}: the last one seen
 * @param leftMicros {@code HELD}: how long that lasts; {@code ABSTAINS}: for how long it does not vote
 * @param holder {@code HELD}: who that is
 * @param othersWait {@code ACCEPTED}: whether others wait
 * @param failure {@code FAILED}, {@code UNKNOWN}: why
 * @param server which server said it, since its last start; empty if it did not say
 */
record RedlockVote(
    Kind kind,
    String claim,
    long number,
    long leftMicros,
    Optional<Holder> holder,
    boolean othersWait,
    @Nullable Throwable failure,
    String server) {
  enum Kind {
    /** The node recorded the number for this claim. */
    ACCEPTED,
    /** Another claim has this node's vote, or it is kept. */
    HELD,
    /** The number is not above the last one that the node saw. */
    STALE,
    /** The number is too far from the node's clock. */
    FAR,
    /** The node may have forgotten and does not vote. */
    ABSTAINS,
    /** It came after its time. */
    LATE,
    /** The request certainly changed nothing. */
    FAILED,
    /** The request may have been applied, or still be. */
    UNKNOWN
  }

  static RedlockVote accepted(boolean othersWait) {
    return new RedlockVote(Kind.ACCEPTED, "", 0, 0, Optional.empty(), othersWait, null, "");
  }

  static RedlockVote held(String claim, long number, long leftMicros, Optional<Holder> holder) {
    return new RedlockVote(Kind.HELD, claim, number, leftMicros, holder, true, null, "");
  }

  static RedlockVote stale(long last) {
    return new RedlockVote(Kind.STALE, "", last, 0, Optional.empty(), false, null, "");
  }

  static RedlockVote abstains(long leftMicros) {
    return new RedlockVote(Kind.ABSTAINS, "", 0, leftMicros, Optional.empty(), false, null, "");
  }

  /** {@code FAR} or {@code LATE}. */
  static RedlockVote of(Kind kind) {
    return new RedlockVote(kind, "", 0, 0, Optional.empty(), false, null, "");
  }

  static RedlockVote failed(Throwable failure, boolean notApplied) {
    return new RedlockVote(
        notApplied ? Kind.FAILED : Kind.UNKNOWN, "", 0, 0, Optional.empty(), false, failure, "");
  }

  /** The same, said by a server. */
  RedlockVote by(String who) {
    return new RedlockVote(kind, claim, number, leftMicros, holder, othersWait, failure, who);
  }

  /** Reads the answer of {@code redlock-attempt.lua}. */
  static RedlockVote read(List<Object> answer) {
    RedlockVote vote = readKind(answer);
    return vote.kind == Kind.LATE
        ? vote
        : vote.by(RedlockVoters.server(RedisAnswer.text(answer, answer.size() - 1)));
  }

  private static RedlockVote readKind(List<Object> answer) {
    String kind = RedisAnswer.text(answer, 1);
    return switch (kind) {
      case "A" -> accepted(RedisAnswer.text(answer, 2).equals("1"));
      case "H" ->
        held(
            RedisAnswer.text(answer, 2),
            RedisAnswer.number(answer, 3),
            RedisAnswer.number(answer, 4),
            RedisHolder.read(RedisAnswer.bytes(answer, 5)));
      case "S" -> stale(RedisAnswer.number(answer, 2));
      case "F" -> of(Kind.FAR);
      case "N" -> abstains(RedisAnswer.number(answer, 2));
      case "L" -> of(Kind.LATE);
      default -> throw new IllegalStateException("no answer of redlock-attempt.lua: " + kind);
    };
  }
}
