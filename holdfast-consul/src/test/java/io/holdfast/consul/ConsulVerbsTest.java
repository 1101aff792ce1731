// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.Tunnel;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The verbs on a real server, through a network that can lose answers, and what they leave there. */
@Tag("stores")
class ConsulVerbsTest {
  private static final Duration LEASE = Duration.ofSeconds(60);

  private final String prefix = ConsulUnderTest.nextPrefix();
  private final Tunnel tunnel = new Tunnel(ConsulUnderTest.server().port());
  private final RecordingStart engine = new RecordingStart();
  private final LockStore store = ConsulStore.at(StoreAddress.parse("consul://127.0.0.1:"
      + tunnel.port() + "?holdfast.prefix=" + prefix + ConsulUnderTest.BRIEF));
  private final LockKey name = LockKey.of("job");

  ConsulVerbsTest() {
    store.start(engine.runtime(), engine);
    Await.value(store.connect().thenApply(nothing -> true));
    // a server without any keys has no list of them
    call("PUT", "/v1/kv/marker", "");
  }

  @AfterEach
  void close() {
    store.close();
    tunnel.close();
  }

  private Claim claim() {
    return claim(LEASE);
  }

  private Claim claim(Duration lease) {
    return engine.claim(name, lease);
  }

  private Instant soon() {
    return store.time().plusSeconds(60);
  }

  private Answer attempt(Claim claim, Mode mode) {
    return Await.value(store.attempt(claim, mode, soon()));
  }

  private long grant(Claim claim) {
    Answer answer = attempt(claim, Mode.QUEUE);
    assertThat(answer).isInstanceOf(Answer.Granted.class);
    return ((Answer.Granted) answer).grant().revision();
  }

  private Ended end(Claim claim) {
    return Await.value(store.end(claim, Duration.ZERO, Instant.MIN));
  }

  private Kept keep(Claim claim) {
    return Await.value(store.keep(List.of(claim))).getOrDefault(claim.id(), new Kept.Unknown());
  }

  private static String call(String method, String path, String body) {
    return ConsulUnderTest.server().call(method, path, body);
  }

  private String keys() {
    return call("GET", "/v1/kv/?keys", "");
  }

  private boolean isThere(String key) {
    return keys().contains("\"" + prefix + key + "\"");
  }

  private String session() {
    return call("GET", "/v1/kv/" + prefix + "lock:job", "").replaceAll(".*\"Session\":\"|\".*", "");
  }

  /** An attempt whose answer is lost on its way; what the server was asked has been done. */
  private void unanswered(Claim claim) {
    tunnel.stallReplies();
    CompletionStage<Answer> lost = store.attempt(claim, Mode.QUEUE, soon());
    Await.until("it was done", () -> isThere("lock:job"));
    tunnel.drop();
    Await.failure(lost);
    tunnel.heal();
    Await.until(
        "it is reached again",
        () -> Await.value(store.connect().handle((nothing, failure) -> failure == null)));
  }

  /** Asked again, the same claim has the same grant, whatever was done meanwhile, and others have none. */
  @Test
  void sameClaim_sameGrant() {
    Claim mine = claim();
    long revision = grant(mine);
    grant(engine.claim(LockKey.of("other"), LEASE));
    assertThat(grant(mine)).isEqualTo(revision);
    Answer other = attempt(claim(), Mode.TRY);
    assertThat(other).isInstanceOf(Answer.Busy.class);
    assertThat(((Answer.Busy) other).holder()).contains(RecordingStart.HOLDER);
    assertThat(keep(mine)).isInstanceOf(Kept.Held.class);
    assertThat(((Kept.Held) keep(mine)).grant().revision()).isEqualTo(revision);
    assertThat(end(mine).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(isThere("lock:job")).isFalse();
  }

  /** Claims of one client share a session: a release that comes late must not end the next claim's hold. */
  @Test
  void lateRelease_leavesTheNextHoldAlone() {
    Claim first = claim();
    grant(first);
    String key = prefix + "lock:job";
    String session = session();
    tunnel.stall();
    CompletionStage<Ended> late = store.end(first, Duration.ZERO, Instant.MIN);
    // meanwhile the lock is the same client's again
    String next = ConsulValue.held(claim(), Instant.EPOCH).write();
    call("PUT", "/v1/txn", new ConsulTxn().delete(key).lock(key, session, next).write());
    tunnel.heal();
    assertThat(Await.value(late).outcome()).isEqualTo(Outcome.NOT_THERE);
    assertThat(isThere("lock:job")).isTrue();
  }

  /** The answer to the attempt was lost: asked again, the claim finds its own grant. */
  @Test
  void lostAnswer_isFoundAgain() {
    Claim mine = claim();
    grant(mine);
    end(mine);
    Claim next = claim();
    unanswered(next);
    long revision = grant(next);
    assertThat(call("GET", "/v1/kv/" + prefix + "lock:job", ""))
        .contains("\"ModifyIndex\":" + revision);
  }

  /** The answer to the attempt was lost: withdrawn, it leaves nothing, and no copy of it is applied any more. */
  @Test
  void lostAnswer_isWithdrawn() {
    Claim first = claim();
    grant(first);
    end(first);
    Claim lost = claim();
    unanswered(lost);
    assertThat(end(lost).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(isThere("lock:job")).isFalse();
    // the epoch that it was sent with has passed: the next one is asked with the new one
    Claim later = claim();
    grant(later);
    assertThat(keep(later)).isInstanceOf(Kept.Held.class);
  }

  /** A copy of an attempt that was called off is refused for the epoch alone. */
  @Test
  void attemptThatWasCalledOff_isNotApplied() {
    Claim first = claim();
    grant(first);
    String session = session();
    end(first);
    Claim lost = claim();
    unanswered(lost);
    assertThat(end(lost).outcome()).isEqualTo(Outcome.RELEASED);
    String copy = new ConsulTxn()
        .isMissing(prefix + "epoch:" + session)
        .isMissing(prefix + "lock:job")
        .lock(prefix + "lock:job", session, "late")
        .write();
    assertThatThrownBy(() -> call("PUT", "/v1/txn", copy)).hasMessageContaining("409");
    assertThat(isThere("lock:job")).isFalse();
  }

  /** The second withdrawal in a session calls off what was sent since the first. */
  @Test
  void secondWithdrawal_callsOffToo() {
    Claim first = claim();
    grant(first);
    String session = session();
    end(first);
    String epoch = prefix + "epoch:" + session;
    Claim lost = claim();
    unanswered(lost);
    assertThat(end(lost).outcome()).isEqualTo(Outcome.RELEASED);
    long raised = index(epoch);
    Claim next = claim();
    unanswered(next);
    assertThat(end(next).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(index(epoch)).isGreaterThan(raised);
    String copy = new ConsulTxn()
        .isSame(epoch, raised)
        .isMissing(prefix + "lock:job")
        .lock(prefix + "lock:job", session, "late")
        .write();
    assertThatThrownBy(() -> call("PUT", "/v1/txn", copy)).hasMessageContaining("409");
    assertThat(isThere("lock:job")).isFalse();
  }

  private static long index(String key) {
    return Json.number(
        Json.list(Json.read(call("GET", "/v1/kv/" + key, ""))).get(0), "ModifyIndex");
  }

  /** The word stays for as long as somebody waits: it does not go with the session that it was left with first. */
  @Test
  void word_staysWhileSomebodyWaits() {
    Claim holder = claim();
    grant(holder);
    assertThat(attempt(claim(Duration.ofSeconds(3)), Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    Await.until("it left word", () -> isThere("wanted:job"));
    Object made = Json.read(call(
        "PUT", "/v1/session/create", "{\"TTL\":\"4s\",\"NodeChecks\":[],\"Behavior\":\"delete\"}"));
    String later = "/v1/session/info/" + Json.text(made, "ID");
    Await.until(
        "a session has ended that was begun later, lasts longer, and was not renewed",
        () -> Json.list(Json.read(call("GET", later, ""))).isEmpty());
    Await.until("the word is there", () -> isThere("wanted:job"));
    assertThat(((Kept.Held) keep(holder)).grant().othersWait()).isTrue();
  }

  /** Nothing is sent for a claim that is being ended, nor after its time. */
  @Test
  void late_isNotSent() {
    Claim mine = claim();
    Answer late = Await.value(store.attempt(mine, Mode.QUEUE, store.time().minusMillis(1)));
    assertThat(late).isInstanceOf(Answer.Late.class);
    assertThat(isThere("lock:job")).isFalse();
  }

  /** A waiter leaves word, the release reads it and takes it away, and the waiter is told. */
  @Test
  void waiter_leavesWord_andIsTold() {
    Claim holder = claim();
    grant(holder);
    assertThat(((Kept.Held) keep(holder)).grant().othersWait()).isFalse();
    Claim waiter = claim();
    assertThat(attempt(waiter, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    Await.until("it left word", () -> isThere("wanted:job"));
    assertThat(((Kept.Held) keep(holder)).grant().othersWait()).isTrue();
    Ended ended = end(holder);
    assertThat(ended.othersWait()).isTrue();
    assertThat(isThere("wanted:job")).isFalse();
    Await.until("it is told", () -> engine.told.contains("lookAgain " + waiter.id()));
    grant(waiter);
    assertThat(end(waiter).othersWait()).isFalse();
  }

  /** A try leaves nothing, not even word. */
  @Test
  void busyTry_leavesNothing() {
    Claim holder = claim();
    grant(holder);
    assertThat(attempt(claim(), Mode.TRY)).isInstanceOf(Answer.Busy.class);
    assertThat(end(holder).othersWait()).isFalse();
    assertThat(keys()).doesNotContain(prefix + "lock:").doesNotContain(prefix + "wanted:");
  }

  /** A session that an operator destroys: the hold is gone, and nobody gets the lock before the lock-delay is over. */
  @Test
  void destroyedSession_endsTheHold_andTheLockDelayFollows() {
    Claim holder = claim();
    long revision = grant(holder);
    call("PUT", "/v1/session/destroy/" + session(), "");
    Claim next = claim();
    assertThat(attempt(next, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    assertThat(isThere("lock:job")).isFalse();
    assertThat(keep(holder)).isInstanceOf(Kept.Gone.class);
    Await.until("it is told to look again", () -> engine.told.contains("lookAgain " + next.id()));
    Await.until(
        "the lock-delay is over", () -> attempt(next, Mode.QUEUE) instanceof Answer.Granted);
    assertThat(grant(next)).isGreaterThan(revision);
  }

  /** A key that an operator deletes: the hold is gone at the next keep. */
  @Test
  void deletedKey_endsTheHold() {
    Claim holder = claim();
    grant(holder);
    call("DELETE", "/v1/kv/" + prefix + "lock:job", "");
    assertThat(keep(holder)).isInstanceOf(Kept.Gone.class);
    assertThat(end(holder).outcome()).isEqualTo(Outcome.NOT_THERE);
  }

  /** A kept lock has a session of its own, and an end that is repeated finds it. */
  @Test
  void keptLock_hasItsOwnSession() {
    Claim holder = claim();
    grant(holder);
    String before = session();
    Ended kept = Await.value(store.end(holder, Duration.ofMinutes(10), Instant.MIN));
    assertThat(kept.outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(session()).isNotEqualTo(before);
    Ended again = Await.value(store.end(holder, Duration.ofMinutes(10), Instant.MIN));
    assertThat(again.outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(Await.value(store.inspect(name)).orElseThrow().keptUntil()).isPresent();
    assertThat(attempt(claim(), Mode.TRY)).isInstanceOf(Answer.Busy.class);
    assertThat(Await.value(store.own())).isEmpty();
  }

  /** What a client has without knowing is listed, and may be ended by whoever finds it. */
  @Test
  void own_listsWhatIsHeld() {
    Claim holder = claim();
    grant(holder);
    assertThat(Await.value(store.own())).containsOnlyKeys(holder.id()).containsValue(name);
  }

  /** A key that no session has locked, as an import leaves it, is nobody's. */
  @Test
  void keyWithoutASession_isTakenOver() {
    call("PUT", "/v1/kv/" + prefix + "lock:job", "left over");
    assertThat(Await.value(store.inspect(name))).isEmpty();
    grant(claim());
  }

  /** A form of a later version is refused, and not touched. */
  @Test
  void newerFormat_isRefused() {
    Claim holder = claim();
    grant(holder);
    String newer = "{\"format\":2}";
    call("PUT", "/v1/kv/" + prefix + "lock:job", newer);
    Throwable refused = Await.failure(store.attempt(claim(), Mode.TRY, soon()));
    assertThat(refused).isInstanceOf(StoreException.class).hasMessageContaining("newer version");
    assertThat(call("GET", "/v1/kv/" + prefix + "lock:job?raw", "")).isEqualTo(newer);
  }

  /** An eviction ends the grant that was seen, and no other. */
  @Test
  void evict_isConditional() {
    Claim holder = claim();
    long revision = grant(holder);
    assertThat(Await.value(store.evict(name, revision - 1))).isFalse();
    assertThat(keep(holder)).isInstanceOf(Kept.Held.class);
    assertThat(Await.value(store.evict(name, revision))).isTrue();
    assertThat(keep(holder)).isInstanceOf(Kept.Gone.class);
  }
}
