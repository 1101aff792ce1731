// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Moment;
import io.holdfast.redis.RedlockReply.Has;
import io.holdfast.redis.RedlockTally.Decision;
import io.holdfast.redis.RedlockVote.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The votes of the nodes for one claim: which number is proposed, what is known of it at each node, and when it is ended.
 * No clock, thread or I/O: each event returns what is to be done. Not thread-safe; orders may be carried out in any order.
 *
 * <pre>
 *   IDLE --ask--> ASKING --GRANTED--> GRANTED --release--> OVER
 *    ^            ^    |
 *    |            |    +--SPLIT, AGAIN--> PAUSING
 *    |            +-------woken--------------+
 *    +--BUSY, LATE, TOO_FEW, or the time is over
 * </pre>
 *
 * <p>Only one number is under way at a time. An attempt that is repeated joins it: the nodes are asked again for the same
 * number, and the votes are merged. A number is given up by one decision, ended at every node that may have it, and never
 * proposed again. A number that was granted is ended by {@link #release} alone.
 */
final class ClaimVotes {
  /** How long the rest is waited for at least, once a majority has answered. */
  static final Duration STRAGGLERS = Duration.ofMillis(50);

  private static final long PAUSE_NANOS = 2_000_000L;
  private static final int DOUBLINGS = 5;

  /** So many proposals in a row are made without a pause, if nothing but their numbers was refused. */
  private static final int AT_ONCE = 2;

  private final long leaseNanos;
  private final long reachMicros;
  private final DoubleSupplier random;
  private final Node[] nodes;
  private final List<Order> orders = new ArrayList<>();
  private Phase phase = Phase.IDLE;

  /** The highest number that was ever proposed; zero for none. */
  private long highest;

  /** Counts the times that the nodes were asked. */
  private int turn;

  private long beganNanos;
  private long deadlineNanos;
  private boolean stragglersAwaited;
  private int proposals;
  private List<@Nullable RedlockVote> lastVotes = List.of();
  private RedlockTally.@Nullable Other before;
  private @Nullable Granted granted;

  /** Whether a node may remember the claim as one that waits. */
  private boolean waiting;

  private Duration keepFor = Duration.ZERO;
  private int endsUnheard;

  enum Phase {
    IDLE,
    ASKING,
    PAUSING,
    GRANTED,
    OVER
  }

  /** What is known of the claim at one node. */
  private static final class Node {
    /** The vote for the number under way, and when it was asked for. */
    @Nullable
    RedlockVote vote;

    int turn;

    @Nullable
    Moment sent;

    /** Requests for votes that were not answered. */
    int unheard;

    /** The highest number that the node accepted, or may have accepted. */
    long mayHave;

    /** The highest number up to which it was told to end the claim, unless that failed. */
    long told;

    /** The highest number up to which it confirmed the end. */
    long ended;

    /** Whether it came back while an end was under way, which may have gone to where it was before. */
    boolean cameBack;

    boolean isClean() {
      return unheard == 0 && mayHave <= ended;
    }
  }

  /** What is to be done. */
  sealed interface Order {}

  /** The attempts under way are answered with that. */
  sealed interface Outcome extends Order {}

  /**
   * Ask a node for its vote, and report to {@link #voted}.
   *
   * @param sent not after the request is sent
   * @param deadlineNanos when the node must not apply it any more
   */
  record AskVote(int node, long number, int turn, Moment sent, long deadlineNanos)
      implements Order {}

  /** Tell a node to end the claim up to a number, and report to {@link #ended}. */
  record TellEnd(int node, long number, Duration keepFor) implements Order {}

  /**
   * Call {@link #woken} after a while; at once after none.
   *
   * @param number the number that was proposed last
   * @param during what is to be brought to an end
   */
  record Wake(long number, Phase during, long nanos) implements Order {}

  /** A majority accepted the number; the oldest of these votes was asked for after that moment. */
  record Granted(long number, Moment sent, boolean othersWait) implements Outcome {}

  /** Another claim has it. */
  record Busy(RedlockTally tally) implements Outcome {}

  /** It came too late, and was applied nowhere. */
  record Late() implements Outcome {}

  /**
   * There is no majority.
   *
   * @param notApplied whether nothing of the claim can be at any node
   * @param majorityInMicros see {@link RedlockTally#majorityInMicros}
   */
  record Failed(String what, @Nullable Throwable cause, boolean notApplied, long majorityInMicros)
      implements Outcome {
    static final Failed ENDED = new Failed("the claim has ended meanwhile", null, false, 0);
  }

  /**
   * Begins.
   *
   * @param lease the claim's
   * @param reachMicros how far a number may be from a node's clock
   * @param random draws from 0 to 1
   */
  ClaimVotes(int nodes, Duration lease, long reachMicros, DoubleSupplier random) {
    this.leaseNanos = lease.toNanos();
    this.reachMicros = reachMicros;
    this.random = random;
    this.nodes = new Node[nodes];
    Arrays.setAll(this.nodes, i -> new Node());
  }

  /** Returns the number that the claim has, or asks for; zero for none. */
  long number() {
    return phase == Phase.ASKING || phase == Phase.GRANTED ? highest : 0;
  }

  /** Whether nothing of the claim can be at any node, so that it need not be remembered. */
  boolean isForgotten() {
    boolean rests = phase == Phase.OVER || (phase == Phase.IDLE && !waiting);
    return rests && endsUnheard == 0 && isNowhere();
  }

  /** Whether nothing is under way, though something of it may be left at a node. */
  boolean rests() {
    return phase == Phase.OVER || phase == Phase.IDLE;
  }

  private boolean isNowhere() {
    for (Node node : nodes) {
      if (!node.isClean()) {
        return false;
      }
    }
    return true;
  }

  private List<Order> orders() {
    List<Order> all = List.copyOf(orders);
    orders.clear();
    return all;
  }

  // asking

  /** An attempt: a first one, or one that repeats what was not answered in its time. */
  List<Order> ask(Moment now, long deadline, long[] clocks) {
    if (phase == Phase.OVER) {
      orders.add(Failed.ENDED);
    } else if (granted != null) {
      // renewals are not heard of here: whether that is still valid is not for this to judge
      orders.add(granted);
    } else if (phase == Phase.ASKING || phase == Phase.PAUSING) {
      deadlineNanos = Math.max(deadlineNanos, deadline);
      if (phase == Phase.ASKING) {
        send(now);
      }
    } else {
      deadlineNanos = deadline;
      proposals = 0;
      lastVotes = List.of();
      before = null;
      propose(now, clocks);
    }
    return orders();
  }

  private void propose(Moment now, long[] clocks) {
    highest = RedlockNumbers.next(clocks, highest, lastVotes, reachMicros);
    phase = Phase.ASKING;
    beganNanos = now.nanos();
    stragglersAwaited = false;
    for (Node node : nodes) {
      node.vote = null;
    }
    send(now);
  }

  /** Asks all nodes. What they answered before stays counted, if it says what they have. */
  private void send(Moment now) {
    turn++;
    for (int i = 0; i < nodes.length; i++) {
      Node node = nodes[i];
      if (node.vote != null && !saysWhatIsThere(node.vote)) {
        node.vote = null;
      }
      node.unheard++;
      orders.add(new AskVote(i, highest, turn, now, deadlineNanos));
    }
  }

  /**
   * A node has answered.
   *
   * @param waits whether a node that has another claim remembers this one as one that waits
   */
  List<Order> voted(AskVote asked, RedlockVote vote, boolean waits, long nowNanos) {
    Node node = nodes[asked.node];
    node.unheard--;
    waiting |= waits && (vote.kind() == Kind.HELD || vote.kind() == Kind.UNKNOWN);
    boolean mayHave = isAccepted(vote) || vote.kind() == Kind.UNKNOWN;
    if (mayHave) {
      node.mayHave = Math.max(node.mayHave, asked.number);
    }
    if (asked.number != number()) {
      if (mayHave) {
        tell(asked.node, asked.number);
      }
    } else if (phase == Phase.ASKING) {
      merge(node, asked, vote);
      decide(false, nowNanos);
    }
    return orders();
  }

  /** The answer to the later request counts, but one that says nothing only if nothing else is known, or can come. */
  private void merge(Node node, AskVote asked, RedlockVote vote) {
    boolean knewNothing = node.vote == null || !saysWhatIsThere(node.vote);
    boolean counts = saysWhatIsThere(vote)
        ? knewNothing || node.turn <= asked.turn
        : knewNothing && asked.turn == turn;
    if (counts) {
      node.vote = vote;
      node.turn = asked.turn;
      node.sent = asked.sent;
    }
  }

  private static boolean isAccepted(@Nullable RedlockVote vote) {
    return vote != null && vote.kind() == Kind.ACCEPTED;
  }

  private static boolean saysWhatIsThere(RedlockVote vote) {
    return switch (vote.kind()) {
      case ACCEPTED, HELD, STALE, ABSTAINS -> true;
      case FAR, LATE, FAILED, UNKNOWN -> false;
    };
  }

  /** Time has passed, as was ordered. */
  List<Order> woken(Wake ordered, Moment now, long[] clocks) {
    if (ordered.number == highest && ordered.during == phase) {
      if (phase == Phase.PAUSING) {
        propose(now, clocks);
      } else {
        stragglersAwaited = false;
        // not if the majority's answers said nothing, and it was asked again meanwhile
        decide(hasMajorityAnswered(counted()), now.nanos());
      }
    }
    return orders();
  }

  private void decide(boolean over, long nowNanos) {
    List<@Nullable RedlockVote> votes = counted();
    RedlockTally tally = new RedlockTally(votes);
    Decision decision = tally.decide(over, before);
    if (decision == Decision.OPEN) {
      awaitStragglers(votes, nowNanos);
      return;
    }
    if (decision == Decision.GRANTED) {
      Moment sent = oldestOfMajority(votes);
      if (nowNanos - sent.nanos() < leaseNanos) {
        phase = Phase.GRANTED;
        granted = new Granted(highest, sent, tally.othersWait());
        orders.add(granted);
        lastVotes = List.of();
        dropVotes();
        return;
      }
      // by our clock the oldest of these votes has ended
      decision = Decision.AGAIN;
    }
    spend(decision);
    switch (decision) {
      case BUSY -> orders.add(new Busy(tally));
      case SPLIT, AGAIN -> again(decision, tally, votes, nowNanos);
      default -> answerFailed(decision, tally);
    }
    dropVotes();
  }

  private void answerFailed(Decision decision, RedlockTally tally) {
    boolean notApplied = isNowhere() && !waiting;
    orders.add(
        decision == Decision.LATE && notApplied
            ? new Late()
            : new Failed(tally.describe(), tally.failure(), notApplied, tally.majorityInMicros()));
  }

  private void awaitStragglers(List<@Nullable RedlockVote> votes, long nowNanos) {
    if (!stragglersAwaited && hasMajorityAnswered(votes)) {
      stragglersAwaited = true;
      long nanos = Math.max(nowNanos - beganNanos, STRAGGLERS.toNanos());
      orders.add(new Wake(highest, Phase.ASKING, nanos));
    }
  }

  private boolean hasMajorityAnswered(List<@Nullable RedlockVote> votes) {
    return votes.stream()
            .filter(
                vote -> vote != null && vote.kind() != Kind.FAILED && vote.kind() != Kind.UNKNOWN)
            .count()
        > nodes.length / 2;
  }

  /** Each server counts once, however many nodes' names lead to it, with what it was asked last. */
  private List<@Nullable RedlockVote> counted() {
    List<@Nullable RedlockVote> votes = new ArrayList<>(nodes.length);
    for (int i = 0; i < nodes.length; i++) {
      RedlockVote vote = nodes[i].vote;
      votes.add(
          vote == null || !isRepeated(i, vote.server())
              ? vote
              : RedlockVote.failed(RedlockVoters.votedAlready(), !isAccepted(vote)));
    }
    return votes;
  }

  private boolean isRepeated(int at, String server) {
    for (int i = 0; i < nodes.length && !server.isEmpty(); i++) {
      RedlockVote vote = nodes[i].vote;
      boolean isFirst =
          nodes[i].turn > nodes[at].turn || (nodes[i].turn == nodes[at].turn && i < at);
      if (vote != null && isFirst && vote.server().equals(server)) {
        return true;
      }
    }
    return false;
  }

  /** All votes of some majority were sent then or later; of such moments, the last. */
  private Moment oldestOfMajority(List<@Nullable RedlockVote> votes) {
    List<Moment> sent = new ArrayList<>();
    for (int i = 0; i < nodes.length; i++) {
      Moment moment = nodes[i].sent;
      if (isAccepted(votes.get(i)) && moment != null) {
        sent.add(moment);
      }
    }
    sent.sort(Comparator.comparingLong(Moment::nanos).reversed());
    return sent.get(nodes.length / 2);
  }

  private void again(
      Decision decision, RedlockTally tally, List<@Nullable RedlockVote> votes, long nowNanos) {
    lastVotes = votes;
    before = tally.first();
    proposals++;
    boolean split = decision == Decision.SPLIT;
    long pause = split || proposals > AT_ONCE ? pause() : 0;
    if (nowNanos + pause - deadlineNanos < 0) {
      phase = Phase.PAUSING;
      orders.add(new Wake(highest, Phase.PAUSING, pause));
    } else if (split) {
      orders.add(new Busy(tally));
    } else {
      answerFailed(decision, tally);
    }
  }

  /** Drawn from a range that doubles, so that one of two that split the votes comes first the next time. */
  private long pause() {
    long most = PAUSE_NANOS << Math.min(proposals, DOUBLINGS);
    return 1 + (long) (random.getAsDouble() * most);
  }

  private void dropVotes() {
    for (Node node : nodes) {
      node.vote = null;
      node.sent = null;
    }
  }

  // ending

  /** Gives the number up, and takes it back wherever it may be. */
  private void spend(Decision decision) {
    phase = Phase.IDLE;
    for (int i = 0; i < nodes.length; i++) {
      // a node that is only slower than the majority that says busy is told if it accepts
      boolean mayAccept = nodes[i].unheard > 0 && decision != Decision.BUSY;
      if (mayAccept || nodes[i].mayHave > nodes[i].told) {
        tell(i, highest);
      }
    }
  }

  private void tell(int node, long number) {
    if (number > nodes[node].told) {
      nodes[node].told = number;
      nodes[node].cameBack = false;
      endsUnheard++;
      orders.add(new TellEnd(node, number, keepFor));
    }
  }

  /**
   * The claim ends, or its end is repeated: each node is told, with the highest number ever proposed. That is final once a
   * majority has confirmed it, for an attempt that comes later is refused there.
   */
  List<Order> release(Duration keep) {
    if (phase == Phase.ASKING || phase == Phase.PAUSING) {
      orders.add(Failed.ENDED);
    }
    phase = Phase.OVER;
    granted = null;
    keepFor = keep;
    for (int i = 0; i < nodes.length; i++) {
      nodes[i].told = 0;
      tell(i, highest);
    }
    return orders();
  }

  /** A node has answered to an end, or not. */
  List<Order> ended(TellEnd told, Has has) {
    Node node = nodes[told.node];
    endsUnheard--;
    if (has != Has.UNKNOWN) {
      node.ended = Math.max(node.ended, told.number);
    } else if (node.told == told.number) {
      node.told = node.ended;
      if (node.cameBack) {
        tellAgain(told.node);
      }
    }
    return orders();
  }

  /** A node can be reached again: it is told once more what it did not confirm. */
  List<Order> reconnected(int node) {
    nodes[node].cameBack = true;
    tellAgain(node);
    return orders();
  }

  /** Tells each node that has not confirmed the end of it again. */
  List<Order> repeated() {
    for (int i = 0; i < nodes.length; i++) {
      tellAgain(i);
    }
    return orders();
  }

  private void tellAgain(int node) {
    if (rests() && !nodes[node].isClean()) {
      tell(node, highest);
    }
  }
}
