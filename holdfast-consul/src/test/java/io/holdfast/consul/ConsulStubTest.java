// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Scheduler;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What the store does when agents answer what a real one rarely does. */
class ConsulStubTest {
  private static final String REFUSED =
      "{\"Errors\":[{\"OpIndex\":2,\"What\":\"invalid session \\\"s\\\"\"}]}";

  @RegisterExtension
  final StubbedConsul consul = new StubbedConsul();

  private final StubServers servers = consul.servers;
  private final StubAgent agent = consul.agent;
  private final StubAgent other = consul.anotherAgent();
  private final RecordingStart engine = consul.engine;

  private ConsulStore store(String parameters) {
    ConsulStore store = consul.store(agent.endpoint() + "," + other.endpoint() + parameters);
    store.start(engine.runtime(), engine);
    return store;
  }

  private Claim claim() {
    return consul.claim(Duration.ofSeconds(60));
  }

  private static CompletionStage<Answer> attempt(ConsulStore store, Claim claim, Mode mode) {
    return store.attempt(claim, mode, store.time().plusSeconds(60));
  }

  private static void grant(ConsulStore store, Claim claim) {
    assertThat(Await.value(attempt(store, claim, Mode.TRY))).isInstanceOf(Answer.Granted.class);
  }

  private static CompletionStage<Ended> endKept(ConsulStore store, Claim claim) {
    return store.end(claim, Duration.ofMinutes(10), Instant.MIN);
  }

  /** An agent that answers errors at once is left for the next one, however many requests it was asked at a time. */
  @Test
  void agentThatAnswersErrors_isLeft() {
    ConsulStore store = store("");
    Claim mine = claim();
    grant(store, mine);
    AtomicBoolean both = new AtomicBoolean();
    agent.script = asked -> {
      // both are asked of the same agent before it answers one of them; this is the second answer
      if (asked.isFor("/v1/txn")) {
        both.set(true);
        Await.until("the renewal has failed", () -> engine.told.contains("disturbed"));
      } else {
        Await.until("both were asked", both::get);
      }
      return StubAgent.Reply.of(500, "No known Consul servers");
    };
    assertThat(StubbedConsul.keep(store, mine)).isInstanceOf(Kept.Unknown.class);
    assertThat(other.asked).isEmpty();
    assertThat(StubbedConsul.keep(store, mine)).isInstanceOf(Kept.Held.class);
    assertThat(other.asked).hasSize(2);
  }

  /** What the client has is looked for after each hiccup: if that puts holds at risk, it is the next hiccup. */
  @Test
  void lookForOwnClaims_thatFails_disturbsNoHold() {
    ConsulStore store = store("");
    grant(store, claim());
    agent.script = asked -> asked.isFor("/v1/txn")
        ? StubAgent.Reply.of(500, "No known Consul servers")
        : Optional.empty();
    Await.failure(store.own());
    assertThat(engine.told).doesNotContain("disturbed");
  }

  /** The locks of all clients may be many megabytes, which the leader would send to each client after each hiccup. */
  @Test
  void ownClaims_areReadByTheirNames() {
    ConsulStore store = store("");
    Map<ClaimId, LockKey> held = new HashMap<>();
    for (int i = 0; i < 70; i++) {
      Claim mine = engine.claim(LockKey.of("mine-" + i), Duration.ofSeconds(60));
      grant(store, mine);
      held.put(mine.id(), mine.name());
    }
    Claim elsewhere = claim();
    ConsulStore foreign = consul.store(agent.endpoint());
    foreign.start(new RecordingStart().runtime(), new RecordingStart());
    grant(foreign, elsewhere);
    assertThat(Await.value(attempt(store, claim(), Mode.QUEUE))).isInstanceOf(Answer.Busy.class);
    assertThat(Await.value(store.own())).isEqualTo(held);
    assertThat(agent.count("recurse") + other.count("recurse")).isZero();
  }

  /** Leases that are computed from a deadline do not have a session each. */
  @Test
  void leasesOfAboutOneLength_shareASession() {
    ConsulContext context = consul.context(consul.still());
    assertThat(context.session(Duration.ofMillis(30_001)))
        .isSameAs(context.session(Duration.ofMillis(31_999)));
    assertThat(ConsulSession.lengthFor(Duration.ofSeconds(10))).isEqualTo(Duration.ofSeconds(10));
    assertThat(ConsulSession.lengthFor(Duration.ofMillis(10_001)))
        .isEqualTo(Duration.ofSeconds(11));
    assertThat(ConsulSession.lengthFor(Duration.ofSeconds(30))).isEqualTo(Duration.ofSeconds(30));
    assertThat(ConsulSession.lengthFor(Duration.ofMillis(30_001)))
        .isEqualTo(Duration.ofSeconds(32));
    assertThat(ConsulSession.lengthFor(ConsulGuarantees.LONGEST))
        .as("the server takes no longer ones")
        .isEqualTo(ConsulGuarantees.LONGEST);
  }

  /** The agent allows a client no more connections: those that wait are refused one, and the holds are renewed as before. */
  @Test
  void waitThatIsRefusedForTooManyConnections_disturbsNoHold() {
    assertFailedWaitDisturbsNoHold(
        StubAgent.Reply.of(429, "Your IP is issuing too many concurrent connections"));
  }

  /** An agent breaks the connection before its refusal is read; a proxy cuts a request that is silent. */
  @Test
  void waitWhoseConnectionBreaks_disturbsNoHold() {
    assertFailedWaitDisturbsNoHold(Optional.of(StubAgent.Reply.NONE));
  }

  /** An agent that refuses a request can be reached. */
  @Test
  void attemptThatIsRefusedForTooManyConnections_disturbsNoHold() {
    ConsulStore store = store("");
    Claim mine = claim();
    grant(store, mine);
    for (StubAgent each : List.of(agent, other)) {
      each.script = asked -> asked.isFor("/v1/txn")
          ? StubAgent.Reply.of(429, "Your IP is issuing too many concurrent connections")
          : Optional.empty();
    }
    assertThat(Await.failure(attempt(store, claim(), Mode.TRY))).isInstanceOf(StoreException.class);
    List.of(agent, other).forEach(each -> each.script = asked -> Optional.empty());
    assertThat(StubbedConsul.keep(store, mine)).isInstanceOf(Kept.Held.class);
    assertThat(engine.told).doesNotContain("disturbed");
  }

  private void assertFailedWaitDisturbsNoHold(Optional<StubAgent.Reply> reply) {
    ConsulStore store = store("");
    Claim mine = claim();
    grant(store, mine);
    for (StubAgent each : List.of(agent, other)) {
      each.script = asked -> asked.isFor("?index=") ? reply : Optional.empty();
    }
    assertThat(Await.value(attempt(store, claim(), Mode.QUEUE))).isInstanceOf(Answer.Busy.class);
    Await.until("the wait was refused", () -> agent.count("?index=") + other.count("?index=") >= 3);
    assertThat(StubbedConsul.keep(store, mine)).isInstanceOf(Kept.Held.class);
    assertThat(engine.told).doesNotContain("disturbed");
  }

  /** A claim beyond the most that may have a query under way looks now and then; if that fails, no hold is at risk. */
  @Test
  void lookInPlaceOfAQuery_thatFails_disturbsNoHold() {
    ConsulStore store = store("");
    Claim mine = claim();
    grant(store, mine);
    CountDownLatch over = new CountDownLatch(1);
    AtomicBoolean fails = new AtomicBoolean();
    AtomicInteger looks = new AtomicInteger();
    for (StubAgent each : List.of(agent, other)) {
      each.script = asked -> {
        if (asked.isFor("?index=")) {
          StubbedConsul.hang(over);
        }
        boolean isLook = asked.method().equals("GET") && asked.path().endsWith("?consistent");
        if (!isLook || !fails.get()) {
          return Optional.empty();
        }
        looks.incrementAndGet();
        return Optional.of(StubAgent.Reply.NONE);
      };
    }
    try {
      for (int i = 0; i < 65; i++) {
        assertThat(Await.value(attempt(store, claim(), Mode.QUEUE)))
            .isInstanceOf(Answer.Busy.class);
      }
      fails.set(true);
      Await.until("it looks, and again", () -> looks.get() >= 2);
      assertThat(StubbedConsul.keep(store, mine)).isInstanceOf(Kept.Held.class);
      assertThat(engine.told).doesNotContain("disturbed");
    } finally {
      over.countDown();
    }
  }

  /** The first question is asked again, of the next agent, when its time is up. */
  @Test
  void agentThatHangsAtFirst_isLeft() {
    CountDownLatch over = new CountDownLatch(1);
    agent.script = asked -> {
      StubbedConsul.hang(over);
      return Optional.empty();
    };
    try {
      ConsulStore store = consul.store(agent.endpoint() + "," + other.endpoint());
      StoreRuntime real = engine.runtime();
      store.start(
          new StoreRuntime(
              real.client(),
              real.ticker(),
              real.scheduler(),
              real.random(),
              Duration.ofSeconds(1),
              real.callerWaits()),
          engine);
      Await.value(store.connect());
      assertThat(other.asked).isNotEmpty();
    } finally {
      over.countDown();
    }
  }

  /** A token that may not read the key at the moment: nothing is known, and the hold is not given up. */
  @Test
  void keyLeftOutOfAnAnswer_isUnknown() {
    ConsulStore store = store("");
    Claim mine = claim();
    grant(store, mine);
    agent.script = asked -> asked.isFor("/v1/txn")
        ? StubAgent.Reply.of(200, "{\"Results\":[],\"Errors\":null}")
        : Optional.empty();
    assertThat(StubbedConsul.keep(store, mine)).isInstanceOf(Kept.Unknown.class);
    agent.script = asked -> Optional.empty();
    assertThat(StubbedConsul.keep(store, mine)).isInstanceOf(Kept.Held.class);
  }

  /** A server that answers everything, and is not Consul, is no store; what it was asked to change is unknown. */
  @Test
  void answerThatIsNotConsuls_isAnotherKindOfServer() {
    ConsulStore store = store("");
    for (String page : List.of("", "<html>", "[]")) {
      agent.script = asked -> StubAgent.Reply.of(200, page);
      assertThat(Await.failure(store.connect().thenApply(nothing -> true)))
          .hasMessageEndingWith(
              ": HTTP 200 without JSON of Consul; correct host and port in the address: another kind of server answers there");
      assertThat(Await.failure(store.evict(claim().name(), 4711)))
          .isInstanceOfSatisfying(StoreException.class, unknown -> {
            assertThat(unknown.reason()).isEqualTo(Reason.UNREACHABLE);
            assertThat(unknown.notApplied()).isFalse();
          });
    }
  }

  /** What was done, and is not shown, may be there. */
  @Test
  void grantThatIsNotShown_isUnknown() {
    ConsulStore store = store("");
    agent.script = asked -> asked.isFor("/v1/txn")
        ? StubAgent.Reply.of(200, "{\"Results\":[],\"Errors\":null}")
        : Optional.empty();
    Throwable failure = Await.failure(attempt(store, claim(), Mode.TRY));
    assertThat(failure)
        .isInstanceOfSatisfying(
            StoreException.class, unknown -> assertThat(unknown.notApplied()).isFalse());
  }

  /** Servers that know no session are not asked for sessions without end. */
  @Test
  void sessionsThatAreRefused_areFew() {
    ConsulStore store = store("");
    agent.script =
        asked -> asked.isFor("/v1/txn") ? StubAgent.Reply.of(409, REFUSED) : Optional.empty();
    Throwable failure = Await.failure(attempt(store, claim(), Mode.TRY));
    assertThat(failure)
        .isInstanceOfSatisfying(
            StoreException.class, refused -> assertThat(refused.notApplied()).isTrue());
    assertThat(agent.count("/v1/session/create")).isLessThanOrEqualTo(4);
  }

  /** A lock is kept by one session, however often that is asked for; it is not ended if it does keep the lock. */
  @Test
  void keptLock_takesOneSession() {
    ConsulStore store = store("");
    Claim mine = claim();
    grant(store, mine);
    AtomicInteger failures = new AtomicInteger();
    StubAgent[] both = {agent, other};
    for (StubAgent each : both) {
      each.script = asked -> {
        if (!asked.isFor("\"unlock\"")) {
          return Optional.empty();
        }
        int failure = failures.incrementAndGet();
        if (failure == 2) {
          return StubAgent.Reply.of(409, REFUSED.replace("invalid session", "lock delay"));
        }
        if (failure == 3) {
          // it is done, and that is not told
          servers.answer(asked);
        }
        return failure > 3 ? Optional.empty() : StubAgent.Reply.of(500, "rpc error: EOF");
      };
    }
    Await.failure(endKept(store, mine));
    assertThat(Await.failure(endKept(store, mine)))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("lock delay");
    Await.failure(endKept(store, mine));
    assertThat(Await.value(endKept(store, mine)).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(agent.count("/v1/session/create") + other.count("/v1/session/create"))
        .isEqualTo(2);
    assertThat(agent.count("destroy") + other.count("destroy")).isZero();
  }

  /** An answer that comes after the end of the store begins nothing. */
  @Test
  void close_beginsNoWait() {
    ConsulStore store = store("");
    grant(store, claim());
    CountDownLatch isClosed = new CountDownLatch(1);
    agent.script = asked -> {
      if (asked.method().equals("GET")) {
        StubbedConsul.hang(isClosed);
      }
      return Optional.empty();
    };
    CompletionStage<Answer> late = attempt(store, claim(), Mode.QUEUE);
    Await.until(
        "it looks who has the lock",
        () -> agent.count("consistent") > 0
            && agent.asked.stream().anyMatch(each -> each.method().equals("GET")));
    store.close();
    isClosed.countDown();
    assertThat(Await.value(late)).isInstanceOf(Answer.Busy.class);
    assertThat(Await.value(attempt(store, claim(), Mode.QUEUE))).isInstanceOf(Answer.Late.class);
    for (int i = 0; i < 20; i++) {
      Await.value(store.connect().thenApply(nothing -> true));
    }
    assertThat(agent.count("index=")).isZero();
    assertThat(agent.count("wanted:job")).isEqualTo(2);
  }

  /** A wait that is over is no fault of the agent's: nobody is told of one, and the agent is not left. */
  @Test
  void endedWait_disturbsNobody() {
    ConsulStore store = store("");
    Claim holder = claim();
    grant(store, holder);
    CountDownLatch isOver = new CountDownLatch(1);
    agent.script = asked -> {
      if (asked.isFor("index=")) {
        StubbedConsul.hang(isOver);
      }
      return Optional.empty();
    };
    for (int i = 0; i < 5; i++) {
      Claim waiter = claim();
      assertThat(Await.value(attempt(store, waiter, Mode.QUEUE))).isInstanceOf(Answer.Busy.class);
      int number = i + 1;
      Await.until("it waits", () -> agent.count("index=") == number);
      assertThat(Await.value(store.end(waiter, Duration.ZERO, Instant.MIN)).outcome())
          .isEqualTo(Outcome.NOT_THERE);
    }
    assertThat(StubbedConsul.keep(store, holder)).isInstanceOf(Kept.Held.class);
    isOver.countDown();
    assertThat(engine.told).doesNotContain("disturbed");
    assertThat(other.asked).isEmpty();
  }

  /** A query that is answered at once, and without an index to go on from, is not repeated in a hurry. */
  @Test
  void answersWithoutAnIndex_areNotAskedForInAHurry() {
    List<Long> pauses = new CopyOnWriteArrayList<>();
    Scheduler never = (task, delay) -> {
      pauses.add(delay);
      return () -> {};
    };
    ConsulStore store = consul.store(agent.endpoint());
    store.start(engine.runtime(Ticker.system(), never), engine);
    grant(store, claim());
    agent.script = asked -> asked.isFor("index=")
        ? Optional.of(new StubAgent.Reply(200, servers.answer(asked).body(), 0))
        : Optional.empty();
    assertThat(Await.value(attempt(store, claim(), Mode.QUEUE))).isInstanceOf(Answer.Busy.class);
    Await.until("it pauses", () -> !pauses.isEmpty());
    assertThat(agent.count("index=")).isLessThanOrEqualTo(2);
  }

  /** A file that is missing for a moment: that the token was refused is still said, and that nothing was done. */
  @Test
  void tokenFileThatIsMissing_leavesTheRefusal(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("token");
    Files.writeString(file, "one\n");
    ConsulStore store = store("?holdfast.token-file=" + file);
    Files.delete(file);
    agent.script = asked -> StubAgent.Reply.of(403, "ACL not found");
    assertThat(Await.failure(attempt(store, claim(), Mode.TRY)))
        .isInstanceOfSatisfying(StoreException.class, refused -> {
          assertThat(refused.reason()).isEqualTo(Reason.REFUSED);
          assertThat(refused.notApplied()).isTrue();
        });
  }

  /** Sessions that have ended are forgotten, also those of which nobody has said so. */
  @Test
  void endedSessions_areForgotten() {
    agent.script =
        asked -> asked.isFor("/renew/") ? StubAgent.Reply.of(404, "not found") : Optional.empty();
    ConsulContext context = consul.context(consul.still());
    for (int i = 0; i < 5; i++) {
      CompletableFuture<ConsulSession.Term> term =
          context.session(Duration.ofSeconds(1)).young();
      assertThat(context.term(Await.value(term).id)).isPresent();
      consul.ticker.pass(Duration.ofMillis(2500));
    }
    assertThat(agent.count("/v1/session/create")).isEqualTo(5);
    Await.until("one is left", () -> context.terms() == 1);
  }

  /** Claims share a renewal of their session that is under way, but not one that may have been lost. */
  @Test
  void renewalUnderWay_servesTheNextClaimToo() {
    CountDownLatch answered = new CountDownLatch(1);
    agent.script = asked -> {
      if (asked.isFor("/renew/")) {
        StubbedConsul.hang(answered);
      }
      return Optional.empty();
    };
    Duration length = Duration.ofSeconds(30);
    ConsulSession session = consul.context(consul.still()).session(length);
    ConsulSession.Term term = Await.value(session.young());
    consul.ticker.pass(length.dividedBy(2));
    List<CompletableFuture<ConsulSession.Term>> young =
        new ArrayList<>(List.of(session.young(), session.young()));
    Await.until("it is renewed", () -> agent.count("/renew/") == 1);
    consul.ticker.pass(Duration.ofMillis(100));
    young.add(session.young());
    Await.until("and again", () -> agent.count("/renew/") == 2);
    answered.countDown();
    young.forEach(each -> assertThat(Await.value(each)).isSameAs(term));
    assertThat(agent.count("/renew/")).isEqualTo(2);
  }
}
