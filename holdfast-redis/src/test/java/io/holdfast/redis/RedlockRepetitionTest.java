// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holder;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.Tunnel;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Attempts that the engine gave up and repeated, on three real nodes: what the first one left is taken back, and no more. */
@Tag("stores")
class RedlockRepetitionTest {
  private static final RedlockRule RULE =
      new RedlockRule(3, Duration.ofMinutes(5), RedlockRule.REACH);
  private static final String CLIENT = "0123456789abcdef0123456789abcdef";
  private static final String NAME = "x";

  private final RedlockNodes nodes = new RedlockNodes(RULE);
  private final List<AutoCloseable> open = new ArrayList<>(List.of(nodes));

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private RedlockStore started(RedlockStore store) {
    open.add(store);
    RecordingStart engine = new RecordingStart();
    store.start(engine.runtime(), engine);
    Await.value(store.connect());
    return store;
  }

  private static Claim claim(int number) {
    return new Claim(
        new ClaimId(CLIENT, number),
        LockKey.of(NAME),
        1,
        1,
        RULE.maxLease(),
        false,
        new Holder("tester", "host", 1, "main", ""));
  }

  private static CompletionStage<Answer> attempt(RedlockStore store, int claim, Duration left) {
    return store.attempt(claim(claim), Mode.TRY, store.time().plus(left));
  }

  private boolean hasVoted(int node, String lock) {
    String claim = nodes.redis(node).hget("holdfast:{" + lock + "}", "c");
    return claim != null && !claim.isEmpty();
  }

  /** Two nodes stand still until the first attempt is too late for them; they answer both attempts one after the other. */
  @Test
  void lateAnswersToTheFirst_leaveTheGrantOfTheSecond() {
    RedlockStore store = started(nodes.store());
    nodes.server(1).pause();
    nodes.server(2).pause();
    Instant giveUp = store.time().plusMillis(50);
    CompletionStage<Answer> first = store.attempt(claim(1), Mode.TRY, giveUp);
    Await.until("one has voted", () -> hasVoted(0, NAME) && store.time().isAfter(giveUp));
    CompletionStage<Answer> second = attempt(store, 1, Await.PATIENCE);
    nodes.server(1).resume();
    assertThat(Await.value(second)).isInstanceOf(Answer.Granted.class);
    nodes.server(2).resume();
    Await.until("the last has voted", () -> hasVoted(2, NAME));
    for (int i = 0; i < 3; i++) {
      // behind what would be sent because of its answers
      assertThat(Await.value(store.keep(List.of(claim(1)))).get(claim(1).id()))
          .isInstanceOf(Kept.Held.class);
    }
    for (int node = 0; node < 3; node++) {
      assertThat(hasVoted(node, NAME)).as("node " + node).isTrue();
    }
    assertThat(Await.value(attempt(store, 2, Await.PATIENCE))).isInstanceOf(Answer.Busy.class);
    assertThat(Await.value(first)).isEqualTo(Await.value(second));
  }

  /** A majority votes, and all connections break before that is told; until they are back, a repetition comes nowhere. */
  @Test
  void votesThatWereNotTold_areEndedByTheirNumber() throws Exception {
    List<Tunnel> ways = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Tunnel way = new Tunnel(nodes.server(i).port());
      ways.add(way);
      open.add(way);
    }
    RedlockStore store = started(nodes.store(ways.stream().map(Tunnel::port)));
    // a majority is connected, and knows the scripts
    assertThat(Await.value(attempt(store, 2, Await.PATIENCE))).isInstanceOf(Answer.Granted.class);
    assertThat(isEnded(store, 2)).isTrue();
    ways.forEach(Tunnel::stallReplies);
    CompletionStage<Answer> first = attempt(store, 1, Await.PATIENCE);
    Await.until("a majority has voted", () -> votes() >= RULE.majority());
    ways.forEach(Tunnel::drop);
    assertThat(failure(first).notApplied()).isFalse();
    // of itself alone it could say so: there is no connection
    assertThat(failure(attempt(store, 1, Await.PATIENCE)).notApplied()).isFalse();
    ways.forEach(Tunnel::heal);
    Await.until("the end is confirmed", () -> isEnded(store, 1));
    Await.until("all nodes are free", () -> votes() == 0);
  }

  /** Its thread was held up until its time was over: the claim may have ended meanwhile, so that nothing would end it again. */
  @Test
  void attemptWhoseTimeIsOver_asksNoNode() {
    RedlockStore store = started(nodes.store());
    for (int node = 0; node < 3; node++) {
      nodes.server(node).pause();
    }
    assertThat(Await.value(attempt(store, 1, Duration.ZERO))).isInstanceOf(Answer.Late.class);
    for (int node = 0; node < 3; node++) {
      nodes.server(node).resume();
    }
    assertThat(Await.value(attempt(store, 2, Await.PATIENCE))).isInstanceOf(Answer.Granted.class);
  }

  private long votes() {
    return IntStream.range(0, 3).filter(node -> hasVoted(node, NAME)).count();
  }

  private static StoreException failure(CompletionStage<Answer> attempt) {
    return Await.value(attempt.handle((answer, failure) ->
        (StoreException) (failure instanceof CompletionException ? failure.getCause() : failure)));
  }

  private static boolean isEnded(RedlockStore store, int claim) {
    return Await.value(store
        .end(claim(claim), Duration.ZERO, Instant.MAX)
        .handle((ended, failure) -> ended != null && ended.isFinal()));
  }
}
