// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holder;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** One claim at three nodes whose answers are given by hand: how long it is remembered. */
class RedlockClaimsTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration REQUEST = Duration.ofSeconds(2);
  private static final RedlockVote ACCEPTED = RedlockVote.accepted(false);
  private static final RedlockVote LATE = RedlockVote.of(RedlockVote.Kind.LATE);

  private final ManualClock clock = new ManualClock();
  private final StoreRuntime runtime =
      new StoreRuntime("0123456789abcdef0123456789abcdef", clock, clock, new Random(1), REQUEST);
  private final RedlockRule rule = new RedlockRule(3, Duration.ofHours(1), RedlockRule.REACH);
  private final List<Node> nodes = List.of(new Node(), new Node(), new Node());
  private final RedlockClaims claims = new RedlockClaims(new RedlockContext(
      "redlock",
      runtime,
      rule,
      List.copyOf(nodes),
      new RedlockWaits(runtime, new RecordingStart(), rule.majority())));
  private final Claim claim = new Claim(
      new ClaimId(runtime.client(), 1),
      LockKey.of("x"),
      1,
      1,
      LEASE,
      false,
      new Holder("tester", "host", 1, "main", ""));

  /** Its requests stay open until the test answers them. */
  private static final class Node implements RedlockNode {
    final List<CompletableFuture<RedlockVote>> asked = new ArrayList<>();
    final List<CompletableFuture<RedlockReply>> told = new ArrayList<>();

    @Override
    public OptionalLong clock() {
      return OptionalLong.of(1_000_000_000L);
    }

    @Override
    public CompletionStage<RedlockVote> attempt(
        Claim claim, long number, Mode mode, long leftMicros) {
      asked.add(new CompletableFuture<>());
      return asked.get(asked.size() - 1);
    }

    @Override
    public CompletionStage<List<RedlockReply>> keep(List<Ballot> ballots) {
      throw new AssertionError("no claim is renewed here");
    }

    @Override
    public CompletionStage<RedlockReply> end(Claim claim, long number, Duration keepFor) {
      told.add(new CompletableFuture<>());
      return told.get(told.size() - 1);
    }
  }

  private CompletionStage<Answer> ask() {
    return claims.attempt(claim, Mode.TRY, REQUEST);
  }

  private void end() {
    claims.end(claim, Duration.ZERO, (node, reply) -> {});
  }

  private void vote(int request, RedlockVote vote) {
    nodes.forEach(node -> node.asked.get(request).complete(vote));
  }

  /** Says what the nodes say to the first end; the last one is silent, or cannot be reached. */
  private void confirmBut(RedlockReply last) {
    nodes.get(0).told.get(0).complete(RedlockReply.of(true, false));
    nodes.get(1).told.get(0).complete(RedlockReply.of(true, false));
    nodes.get(2).told.get(0).complete(last);
  }

  @Test
  void endThatANodeMissed_isRepeatedWhenItIsBack() {
    ask();
    vote(0, ACCEPTED);
    end();
    confirmBut(RedlockReply.unknown(null));
    clock.advance(LEASE);
    List<CompletableFuture<RedlockReply>> told = nodes.get(2).told;
    assertThat(told).as("after a pause").hasSize(2);
    told.get(1).complete(RedlockReply.unknown(null));
    claims.reconnected(2);
    assertThat(told).hasSize(3);
    told.get(2).complete(RedlockReply.of(true, false));
    claims.reconnected(2);
    assertThat(told).hasSize(3);
  }

  /** A node may refuse an end and stay connected: it is told again, ever more rarely, and not once it has confirmed it. */
  @Test
  void endThatANodeRefuses_isRepeatedWithPauses() {
    ask();
    vote(0, ACCEPTED);
    end();
    confirmBut(RedlockReply.unknown(null));
    List<CompletableFuture<RedlockReply>> told = nodes.get(2).told;
    clock.advance(REQUEST);
    assertThat(told).hasSize(2);
    told.get(1).complete(RedlockReply.unknown(null));
    clock.advance(REQUEST);
    assertThat(told).hasSize(2);
    clock.advance(REQUEST);
    assertThat(told).hasSize(3);
    told.get(2).complete(RedlockReply.of(true, false));
    clock.advance(LEASE);
    assertThat(told).hasSize(3);
    for (Node node : nodes.subList(0, 2)) {
      assertThat(node.told).as("those that have confirmed it").hasSize(1);
    }
  }

  /** However long other claims' leases may be. */
  @Test
  void endThatANodeMissed_isForgottenAfterTheClaimsLease() {
    ask();
    vote(0, ACCEPTED);
    end();
    confirmBut(RedlockReply.unknown(null));
    clock.advance(LEASE.multipliedBy(3));
    nodes.get(2).told.get(1).complete(RedlockReply.unknown(null));
    claims.reconnected(2);
    clock.advance(LEASE);
    assertThat(nodes.get(2).told).as("when the claim was remembered").hasSize(2);
  }

  /** The claim was forgotten, and begins anew: what was asked for before says nothing of that. */
  @Test
  void answerToWhatIsForgotten_changesNothing() {
    ask();
    nodes.get(0).asked.get(0).complete(ACCEPTED);
    end();
    confirmBut(RedlockReply.unknown(null));
    clock.advance(LEASE.multipliedBy(3));
    CompletionStage<Answer> again = ask();
    List<Integer> told = nodes.stream().map(node -> node.told.size()).toList();
    nodes.get(1).asked.get(0).complete(ACCEPTED);
    nodes.get(2).asked.get(0).complete(ACCEPTED);
    vote(1, LATE);
    assertThat(again).isCompletedWithValue(new Answer.Late());
    assertThat(claims.number(claim.id())).isZero();
    end();
    assertThat(nodes.stream().map(node -> node.told.size()).toList())
        .as("nothing of it is anywhere")
        .isEqualTo(told);
  }
}
