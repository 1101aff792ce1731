// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is under way at a time: attempts of one claim, and ends with the end of the store; what is remembered of claims. */
class ConsulOverlapTest {
  private static final Duration LEASE = Duration.ofSeconds(10);

  @RegisterExtension
  final StubbedConsul consul = new StubbedConsul();

  private final StubServers servers = consul.servers;
  private final StubAgent agent = consul.agent;
  private final RecordingStart engine = consul.engine;
  private final ConsulStore store = consul.store(agent.endpoint());
  private final CountDownLatch first = new CountDownLatch(1);
  private final CountDownLatch second = new CountDownLatch(1);
  private final CountDownLatch transaction = new CountDownLatch(1);

  @AfterEach
  void letGo() {
    first.countDown();
    second.countDown();
    transaction.countDown();
  }

  private Claim claim() {
    return consul.claim(LEASE);
  }

  private CompletionStage<Answer> attempt(Claim claim) {
    return attempt(claim, Duration.ofMinutes(1));
  }

  private CompletionStage<Answer> attempt(Claim claim, Duration most) {
    return store.attempt(claim, Mode.QUEUE, store.time().plus(most));
  }

  /**
   * Asks twice for the same claim. The session has ended, and the new ones come late: the first when its attempt was given
   * up, which is answered before this returns; the second when the test says so.
   */
  private CompletionStage<Answer> askTwice(Claim mine) {
    store.start(consul.still(), engine);
    Claim before = claim();
    assertThat(Await.value(attempt(before))).isInstanceOf(Answer.Granted.class);
    Await.value(store.end(before, Duration.ZERO, Instant.MIN));
    consul.ticker.pass(Duration.ofSeconds(5));
    AtomicInteger creates = new AtomicInteger();
    agent.script = asked -> {
      if (asked.isFor("/renew/s1")) {
        return StubAgent.Reply.of(404, "not found");
      }
      if (asked.isFor("/v1/session/create")) {
        StubbedConsul.hang(creates.incrementAndGet() == 1 ? first : second);
      } else if (asked.isFor("lock:job") && asked.isFor("\"s3\"")) {
        StubbedConsul.hang(transaction);
      }
      return Optional.empty();
    };
    CompletionStage<Answer> givenUp = attempt(mine, Duration.ofSeconds(2));
    Await.until("the first asks for a session", () -> creates.get() == 1);
    consul.ticker.pass(Duration.ofSeconds(3));
    CompletionStage<Answer> next = attempt(mine);
    Await.until("the second asks for a session", () -> creates.get() == 2);
    first.countDown();
    assertThat(Await.value(givenUp)).isInstanceOf(Answer.Late.class);
    return next;
  }

  /** An attempt that comes late does not make the store forget what the next one of its claim is granted. */
  @Test
  void lateAttempt_leavesTheNextOnesGrant() {
    Claim mine = claim();
    CompletionStage<Answer> next = askTwice(mine);
    transaction.countDown();
    second.countDown();
    assertThat(Await.value(next)).isInstanceOf(Answer.Granted.class);
    assertThat(StubbedConsul.keep(store, mine)).isInstanceOf(Kept.Held.class);
    store.close();
    // it says farewell for a second, and what is asked by then is answered in its own time
    Await.until("the idle one is ended", () -> agent.count("/destroy/") > 0);
    assertThat(agent.count("/destroy/s3")).isZero();
  }

  /** Nor does it make the session look idle that the next one has sent its transaction with. */
  @Test
  void close_leavesTheSessionOfAnAttemptThatIsUnderWay() {
    CompletionStage<Answer> next = askTwice(claim());
    second.countDown();
    Await.until("it is sent", () -> agent.count("\"s3\"") > 0);
    store.close();
    // it says farewell for a second, and what is asked by then is answered in its own time
    Await.until("the idle one is ended", () -> agent.count("/destroy/") > 0);
    assertThat(agent.count("/destroy/s3")).isZero();
    transaction.countDown();
    assertThat(Await.value(next)).isInstanceOf(Answer.Granted.class);
  }

  /** Whether an attempt of the claim has no answer, or was not sent yet. */
  private static boolean isNoted(ConsulContext context, Claim claim) {
    return context.known(claim.id()).filter(known -> !known.open().isEmpty()).isPresent();
  }

  /** An end that comes when an attempt is noted, and its transaction is not sent yet, calls that off: it is refused. */
  @Test
  void attemptThatIsCalledOffBeforeItIsSent_isRefused() {
    Claim mine = claim();
    AtomicReference<@Nullable ConsulContext> asked = new AtomicReference<>();
    AtomicBoolean isEnded = new AtomicBoolean();
    Ticker meanwhile = new Ticker() {
      @Override
      public long nanos() {
        ConsulContext context = asked.get();
        if (context != null && isNoted(context, mine) && !isEnded.getAndSet(true)) {
          Await.value(new ConsulEnding(context).end(mine, Duration.ZERO, Instant.MIN));
        }
        return consul.ticker.nanos();
      }

      @Override
      public long wallMillis() {
        return consul.ticker.wallMillis();
      }
    };
    ConsulContext context = consul.context(engine.runtime(meanwhile, (task, delay) -> () -> {}));
    // its session is there, so that the attempt is sent by this thread
    Await.value(context.session(LEASE).young());
    asked.set(context);
    assertThat(Await.value(
            ConsulAttempt.ask(context, mine, Mode.TRY, context.clock.now().plusSeconds(60))))
        .isInstanceOf(Answer.Late.class);
    assertThat(isEnded).isTrue();
    assertThat(Await.value(context.calls.get(context.keys.lock(mine.name()))).isThere())
        .isFalse();
  }

  /** Tries that nobody hears are not remembered: the engine ends none of them. */
  @Test
  void triesWithoutAnAgent_areNotRemembered() {
    agent.close();
    ConsulContext context = consul.context(engine.runtime());
    for (int i = 0; i < 1_000; i++) {
      Mode mode = i % 2 == 0 ? Mode.TRY : Mode.QUEUE;
      Await.failure(ConsulAttempt.ask(context, claim(), mode, Instant.MAX));
    }
    Await.until("all are forgotten", () -> context.remembered() == 0);
  }

  /** What the engine has given up and the servers do not have is forgotten, and found if it comes all the same. */
  @Test
  void claimWhoseEndWasGivenUp_isForgotten() {
    ConsulContext context = consul.context(consul.still());
    ConsulAdmin admin = new ConsulAdmin(context);
    agent.script = asked ->
        asked.isFor("/session/") || (asked.isFor("get-or-empty") && !asked.isFor("check-"))
            ? Optional.empty()
            : StubAgent.Reply.of(500, "rpc error: EOF");
    Claim mine = claim();
    Await.failure(ConsulAttempt.ask(context, mine, Mode.QUEUE, Instant.MAX));
    Await.failure(new ConsulEnding(context).end(mine, Duration.ZERO, Instant.MIN));
    Await.value(admin.own());
    assertThat(context.remembered()).as("while the end may be repeated").isEqualTo(1);
    consul.ticker.pass(LEASE.multipliedBy(4));
    Await.value(admin.own());
    assertThat(context.remembered()).isZero();
    agent.script = asked -> Optional.empty();
    ConsulClaim late = new ConsulClaim(mine, context.keys, Instant.EPOCH);
    ConsulSession.Term term = Await.value(context.session(LEASE).young());
    Await.value(context.calls.txn(new ConsulTxn().lock(late.key, term.id, late.value)));
    assertThat(Await.value(admin.own())).containsOnlyKeys(mine.id());
  }

  /**
   * A claim that the engine will end is remembered until then, whatever a later attempt is answered: its end asks
   * nothing.
   */
  @Test
  void claimThatWillBeEnded_isRemembered() {
    store.start(engine.runtime(), engine);
    Claim holder = claim();
    assertThat(Await.value(attempt(holder))).isInstanceOf(Answer.Granted.class);
    Claim mine = claim();
    agent.script = asked ->
        asked.method().equals("GET") ? StubAgent.Reply.of(500, "rpc error: EOF") : Optional.empty();
    Await.failure(attempt(mine));
    agent.script = asked -> StubAgent.Reply.of(429, "not now");
    Await.failure(attempt(mine));
    agent.asked.clear();
    assertThat(Await.value(store.end(mine, Duration.ZERO, Instant.MIN)).outcome())
        .isEqualTo(Outcome.NOT_THERE);
    assertThat(agent.asked).isEmpty();
  }

  /** Holds back what the end of a claim reads, closes the store meanwhile, and returns the end. */
  private CompletionStage<Ended> closeDuringTheEnd(Claim mine) {
    agent.script = asked -> {
      if (asked.method().equals("GET")) {
        StubbedConsul.hang(transaction);
      }
      return Optional.empty();
    };
    CompletionStage<Ended> end = store.end(mine, Duration.ZERO, Instant.MIN);
    Await.until(
        "it looks for what is there",
        () -> agent.asked.stream().anyMatch(each -> each.method().equals("GET")));
    store.close();
    transaction.countDown();
    return end;
  }

  /** An attempt whose answer was lost has locked the key: its session is not ended before the key was deleted. */
  @Test
  void closeDuringAWithdrawal_leavesTheSession() {
    store.start(engine.runtime(), engine);
    Claim mine = claim();
    agent.script = asked -> {
      if (asked.isFor("lock:job")) {
        servers.answer(asked);
        return StubAgent.Reply.of(500, "rpc error: EOF");
      }
      return Optional.empty();
    };
    Await.failure(attempt(mine));
    assertThat(Await.value(closeDuringTheEnd(mine)).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(agent.count("/destroy/")).isZero();
  }

  /** Nor is the session of a claim that was forgotten, which the engine has found on the servers. */
  @Test
  void closeDuringTheEndOfAForgottenClaim_leavesTheSession() {
    store.start(engine.runtime(), engine);
    Claim other = claim();
    assertThat(Await.value(attempt(other))).isInstanceOf(Answer.Granted.class);
    Await.value(store.end(other, Duration.ZERO, Instant.MIN));
    Claim forgotten = claim();
    servers.answer(new StubAgent.Asked(
        "PUT",
        "/v1/txn",
        new ConsulTxn()
            .lock(
                "holdfast/lock:job",
                "s1",
                ConsulValue.held(forgotten, Instant.EPOCH).write())
            .write()));
    assertThat(Await.value(closeDuringTheEnd(forgotten)).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(agent.count("/destroy/")).isZero();
  }

  /** A word that is under way when the store is closed is awaited, and taken back before its session is ended. */
  @Test
  void closeWhileAWordIsUnderWay_takesItBack() {
    store.start(engine.runtime(), engine);
    assertThat(Await.value(attempt(consul.claim(LEASE.multipliedBy(2)))))
        .isInstanceOf(Answer.Granted.class);
    CountDownLatch isListed = new CountDownLatch(1);
    agent.script = asked -> {
      if (asked.isFor("?recurse")) {
        StubAgent.Reply list = servers.answer(asked);
        isListed.countDown();
        return Optional.of(list);
      }
      if (asked.isFor("index=")) {
        StubbedConsul.hang(second);
      } else if (asked.isFor("wanted:job") && !asked.isFor("\"delete\"")) {
        StubbedConsul.hang(first);
        // behind the list, if that is asked for meanwhile
        StubbedConsul.hang(isListed, Duration.ofMillis(100));
      }
      return Optional.empty();
    };
    assertThat(Await.value(attempt(claim()))).isInstanceOf(Answer.Busy.class);
    Await.until(
        "a word is under way",
        () -> agent.asked.stream()
            .anyMatch(each -> each.isFor("wanted:job") && !each.isFor("\"delete\"")));
    first.countDown();
    store.close();
    Await.until("its session is ended", () -> agent.count("/destroy/s2") == 1);
    assertThat(servers
            .answer(new StubAgent.Asked("GET", "/v1/kv/holdfast/wanted:job?consistent", ""))
            .status())
        .isEqualTo(404);
  }
}
