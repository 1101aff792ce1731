// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What promises hang on and a real server rarely shows: late requests, slow answers, an index that goes back. */
class ConsulPromisesTest {
  @RegisterExtension
  final StubbedConsul consul = new StubbedConsul();

  private final StubServers servers = consul.servers;
  private final StubAgent agent = consul.agent;
  private final RecordingStart engine = consul.engine;
  private final ConsulStore store = consul.store(agent.endpoint());

  private Claim claim() {
    return consul.claim(Duration.ofSeconds(60));
  }

  private CompletionStage<Answer> attempt(Claim claim, Mode mode) {
    return store.attempt(claim, mode, store.time().plusSeconds(600));
  }

  private Grant grant(Claim claim) {
    Answer answer = Await.value(attempt(claim, Mode.TRY));
    assertThat(answer).isInstanceOf(Answer.Granted.class);
    return ((Answer.Granted) answer).grant();
  }

  private Grant keep(Claim claim) {
    Kept kept = StubbedConsul.keep(store, claim);
    assertThat(kept).isInstanceOf(Kept.Held.class);
    return ((Kept.Held) kept).grant();
  }

  /** Has the agent answer the first transaction that locks the key by that; returns whether it has come. */
  private AtomicBoolean atTheFirstLock(
      Function<StubAgent.Asked, Optional<StubAgent.Reply>> answer) {
    AtomicBoolean isAsked = new AtomicBoolean();
    agent.script = asked -> {
      boolean locks = asked.isFor("lock:job") && asked.isFor("\"lock\"");
      return locks && !isAsked.getAndSet(true) ? answer.apply(asked) : Optional.empty();
    };
    return isAsked;
  }

  /** An attempt that reaches the servers behind its withdrawal is refused, for the epoch alone: nobody has the lock. */
  @Test
  void attemptBehindItsWithdrawal_isRefused() {
    store.start(engine.runtime(), engine);
    CountDownLatch isWithdrawn = new CountDownLatch(1);
    AtomicLong status = new AtomicLong();
    AtomicBoolean isHeldUp = atTheFirstLock(asked -> {
      StubbedConsul.hang(isWithdrawn);
      StubAgent.Reply reply = servers.answer(asked);
      status.set(reply.status());
      return Optional.of(reply);
    });
    Claim late = claim();
    CompletionStage<Answer> attempt = attempt(late, Mode.TRY);
    Await.until("it is on its way", isHeldUp::get);
    assertThat(Await.value(store.end(late, Duration.ZERO, Instant.MIN)).outcome())
        .isEqualTo(Outcome.NOT_THERE);
    isWithdrawn.countDown();
    assertThat(Await.value(attempt)).isInstanceOf(Answer.Late.class);
    assertThat(status).hasValue(409);
    assertThat(Await.value(store.inspect(StubbedConsul.JOB))).isEmpty();
    grant(claim());
  }

  /**
   * An attempt that reaches the servers late, behind a forced release and the hold of another, locks the key with its session
   * again: that is not the hold that was granted.
   */
  @Test
  void attemptBehindAForcedRelease_isNotTheHoldThatWasGranted() {
    store.start(engine.runtime(), engine);
    CountDownLatch goesOn = new CountDownLatch(1);
    AtomicBoolean isHeldUp = atTheFirstLock(asked -> {
      StubbedConsul.hang(goesOn);
      servers.answer(asked);
      return StubAgent.Reply.of(500, "rpc error: EOF");
    });
    Claim mine = claim();
    CompletionStage<Answer> first = attempt(mine, Mode.TRY);
    Await.until("it is on its way", isHeldUp::get);
    Grant granted = grant(mine);
    assertThat(keep(mine).revision()).isEqualTo(granted.revision());
    assertThat(Await.value(store.evict(StubbedConsul.JOB, granted.revision()))).isTrue();
    Claim other = claim();
    assertThat(grant(other).revision()).isGreaterThan(granted.revision());
    Await.value(store.end(other, Duration.ZERO, Instant.MIN));
    goesOn.countDown();
    Await.failure(first);
    assertThat(StubbedConsul.keep(store, mine)).isInstanceOf(Kept.Gone.class);
    assertThat(Await.value(store.end(mine, Duration.ZERO, Instant.MIN)).outcome())
        .isEqualTo(Outcome.RELEASED);
    assertThat(Await.value(store.inspect(StubbedConsul.JOB))).isEmpty();
  }

  /** The answer of an earlier attempt, whose grant was taken by force, does not stand for the grant of a later one. */
  @Test
  void answerOfAnEarlierAttempt_leavesTheGrantOfALaterOne() {
    store.start(engine.runtime(), engine);
    CountDownLatch goesOn = new CountDownLatch(1);
    AtomicBoolean isApplied = new AtomicBoolean();
    atTheFirstLock(asked -> {
      StubAgent.Reply reply = servers.answer(asked);
      isApplied.set(true);
      StubbedConsul.hang(goesOn);
      return Optional.of(reply);
    });
    Claim mine = claim();
    CompletionStage<Answer> first = attempt(mine, Mode.TRY);
    Await.until("it was applied", isApplied::get);
    long taken = Await.value(consul.context(engine.runtime()).calls.get("holdfast/lock:job"))
        .index();
    assertThat(Await.value(store.evict(StubbedConsul.JOB, taken))).isTrue();
    long revision = grant(mine).revision();
    assertThat(revision).isGreaterThan(taken);
    goesOn.countDown();
    assertThat(Await.value(first)).isInstanceOf(Answer.Granted.class);
    assertThat(keep(mine).revision()).isEqualTo(revision);
  }

  /** An attempt is given up while its session is being made: it asks for no lock when the session is there. */
  @Test
  void attempt_whoseSessionComesAfterGiveUpAt_isLate() {
    store.start(consul.still(), engine);
    agent.script = asked -> {
      if (asked.isFor("/v1/session/create")) {
        consul.ticker.pass(Duration.ofSeconds(6));
      }
      return Optional.empty();
    };
    Instant giveUpAt = store.time().plusSeconds(5);
    assertThat(Await.value(store.attempt(claim(), Mode.TRY, giveUpAt)))
        .isInstanceOf(Answer.Late.class);
    assertThat(agent.count("/v1/session/create")).isOne();
    assertThat(agent.count("lock:job")).isZero();
  }

  /** What was found is final only when no attempt can come behind it. */
  @Test
  void end_isFinalBehindTheLastAttempt() {
    store.start(consul.still(), engine);
    Claim mine = claim();
    grant(mine);
    Instant last = store.time().plusSeconds(5);
    assertThat(Await.value(store.end(mine, Duration.ZERO, last)).isFinal()).isFalse();
    consul.ticker.pass(Duration.ofSeconds(6));
    assertThat(Await.value(store.end(mine, Duration.ZERO, last)).isFinal()).isTrue();
  }

  /** Claims of one client share a session: an end that comes late, and is to keep the lock, leaves the next hold alone. */
  @Test
  void lateKeeping_leavesTheNextHoldAlone() {
    store.start(engine.runtime(), engine);
    Claim first = claim();
    grant(first);
    String key = "holdfast/lock:job";
    String next = ConsulValue.held(claim(), Instant.EPOCH).write();
    servers.answer(new StubAgent.Asked(
        "PUT", "/v1/txn", new ConsulTxn().delete(key).lock(key, "s1", next).write()));
    assertThat(
            Await.value(store.end(first, Duration.ofMinutes(10), Instant.MIN)).outcome())
        .isEqualTo(Outcome.NOT_THERE);
    assertThat(Await.value(store.inspect(StubbedConsul.JOB)).orElseThrow().keptUntil())
        .isEmpty();
  }

  /** A session's time runs from before the request that began it, however long the answer takes. */
  @Test
  void grant_countsFromBeforeTheRequest() {
    store.start(consul.still(), engine);
    agent.script = asked -> {
      consul.ticker.pass(Duration.ofSeconds(1));
      return Optional.empty();
    };
    assertThat(grant(claim()).anchor().nanos()).isZero();
  }

  /** And so does a renewed one's. */
  @Test
  void renewal_countsFromBeforeTheRequest() {
    store.start(consul.still(), engine);
    Claim mine = claim();
    grant(mine);
    consul.ticker.pass(Duration.ofSeconds(20));
    agent.script = asked -> {
      consul.ticker.pass(Duration.ofSeconds(1));
      return Optional.empty();
    };
    assertThat(keep(mine).anchor().nanos()).isEqualTo(Duration.ofSeconds(20).toNanos());
  }

  /** Servers that were restored tell a smaller index: what comes after it would not be told. */
  @Test
  void indexThatWentBack_isNotGoneOnFrom() {
    store.start(engine.runtime(), engine);
    grant(claim());
    AtomicLong told = new AtomicLong(1000);
    agent.script = asked -> asked.isFor("index=")
        ? Optional.of(new StubAgent.Reply(
            200,
            servers.answer(asked).body(),
            // up once, and then back
            told.getAndUpdate(index -> index == 1000 ? 5 : index)))
        : Optional.empty();
    assertThat(Await.value(attempt(claim(), Mode.QUEUE))).isInstanceOf(Answer.Busy.class);
    Await.until("it went on from the first", () -> agent.count("index=1000&") > 0);
    Await.until("it began anew behind the second", () -> agent.count("index=0&") > 0);
  }

  /** While a lock-delay lasts the lock is busy, though nobody has it: one question says so. */
  @Test
  void lockDelay_isBusy() {
    store.start(engine.runtime(), engine);
    agent.script = asked -> asked.isFor("lock:job")
        ? StubAgent.Reply.of(
            409, "{\"Errors\":[{\"OpIndex\":2,\"What\":\"key is locked due to lock delay\"}]}")
        : Optional.empty();
    Answer answer = Await.value(attempt(claim(), Mode.TRY));
    assertThat(answer).isInstanceOf(Answer.Busy.class);
    assertThat(((Answer.Busy) answer).holder()).isEmpty();
    assertThat(agent.count("lock:job")).isOne();
  }

  /** The lock-delay that was asked for is what the session is made with. */
  @Test
  void sessions_areMadeWithTheLockDelay() {
    store.start(engine.runtime(), engine);
    grant(claim());
    assertThat(agent.asked)
        .filteredOn(each -> each.isFor("/v1/session/create"))
        .singleElement()
        .matches(each -> each.isFor("\"LockDelay\":\"15000ms\""))
        .matches(each -> each.isFor("\"Behavior\":\"delete\""))
        .matches(each -> each.isFor("\"NodeChecks\":[]"))
        .matches(each -> each.isFor("\"ServiceChecks\":[]"));
  }
}
