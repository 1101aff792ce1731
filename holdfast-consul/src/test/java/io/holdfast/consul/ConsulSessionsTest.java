// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.Tunnel;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What sessions are left on a server of these tests' own, and what their end does to keys. */
@Tag("stores")
class ConsulSessionsTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofSeconds(60)).build();

  /** So long that a test would notice a lock-delay. */
  private static final String SLOW = "&holdfast.session-ttl-min=1s&holdfast.lock-delay=60s";

  @RegisterExtension
  static final LazyServer<ConsulServer> SERVER = new LazyServer<>(ConsulServer::with);

  private final String prefix = ConsulUnderTest.nextPrefix();
  private final RecordingStart engine = new RecordingStart();

  @BeforeEach
  void awaitNone() {
    Await.until("the sessions of the last test have ended", () -> sessions().isEmpty());
    // a server without any keys has no list of them
    SERVER.get().call("PUT", "/v1/kv/marker", "");
  }

  /** The store's own: one that the server was probed with, and whose answer came too late, may be there for a while. */
  private static List<?> sessions() {
    String all = SERVER.get().call("GET", "/v1/session/list?consistent", "");
    return Json.list(Json.read(all)).stream()
        .filter(each -> Json.text(each, "Name").equals("holdfast"))
        .toList();
  }

  private String uri(int port) {
    return "consul://127.0.0.1:" + port + "?holdfast.prefix=" + prefix + SLOW;
  }

  private Holdfast client() {
    return Clients.connect(uri(SERVER.get().port()));
  }

  private LockStore store(int port) {
    LockStore store = ConsulStore.at(StoreAddress.parse(uri(port)));
    store.start(engine.runtime(), engine);
    return store;
  }

  private Claim claim(Duration lease) {
    return engine.claim(LockKey.of("job"), lease);
  }

  private static CompletionStage<Answer> attempt(LockStore store, Claim claim) {
    return store.attempt(claim, Mode.TRY, store.time().plusSeconds(60));
  }

  private String wordOf() {
    String key = "/v1/kv/?recurse";
    return Json.list(Json.read(SERVER.get().call("GET", key, ""))).stream()
        .filter(each -> Json.text(each, "Key").equals(prefix + "wanted:job"))
        .map(each -> Json.text(each, "Session"))
        .findFirst()
        .orElse("");
  }

  /** A client that has released everything leaves no session when it is closed, and its locks are free at once. */
  @Test
  void close_endsTheSessions() throws Exception {
    try (Holdfast holdfast = client()) {
      assertThat(holdfast.lock("job", LONG).acquire().release()).isTrue();
      LockOptions other = LONG.toBuilder().leaseFor(Duration.ofSeconds(40)).build();
      Hold open = holdfast.lock("another", other).acquire();
      assertThat(sessions()).hasSize(2);
      assertThat(open.isValid()).isTrue();
    }
    Await.until("both are gone", () -> sessions().isEmpty());
    try (Holdfast next = client()) {
      assertThat(next.lock("job", LONG).tryAcquire()).isPresent();
      assertThat(next.lock("another", LONG).tryAcquire()).isPresent();
    }
  }

  /** What was not ended stays until its session ends by itself: the end of a store is no release. */
  @Test
  void close_leavesASessionThatHasALock() {
    LockStore store = store(SERVER.get().port());
    assertThat(Await.value(attempt(store, claim(Duration.ofSeconds(2)))))
        .isInstanceOf(Answer.Granted.class);
    store.close();
    assertThat(sessions()).hasSize(1);
    assertThat(SERVER.get().call("GET", "/v1/kv/?keys", "")).contains(prefix + "lock:job");
  }

  /** A kept lock stays kept, by its own session. */
  @Test
  void close_leavesAKeptLock() {
    LockStore store = store(SERVER.get().port());
    Claim mine = claim(Duration.ofSeconds(60));
    assertThat(Await.value(attempt(store, mine))).isInstanceOf(Answer.Granted.class);
    Await.value(store.end(mine, Duration.ofSeconds(5), Instant.MIN));
    assertThat(sessions()).hasSize(2);
    store.close();
    Await.until("the other one is gone", () -> sessions().size() == 1);
    assertThat(SERVER.get().call("GET", "/v1/kv/?keys", "")).contains(prefix + "lock:job");
  }

  /** The word of a waiter that is closed goes with it, and no lock-delay keeps the next waiter from leaving its own. */
  @Test
  void close_takesTheWordBack() throws Exception {
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofSeconds(4)).build();
    try (Holdfast holder = client();
        Holdfast other = client()) {
      Hold hold = holder.lock("job", LONG).acquire();
      Holdfast first = client();
      CompletableFuture<Hold> leaves = first.lock("job", LONG).acquireAsync();
      Await.until("the first has left word", () -> !wordOf().isEmpty());
      String word = wordOf();
      first.close();
      assertThat(leaves).isCompletedExceptionally();
      Await.until("it was taken back", () -> !wordOf().equals(word));
      CompletableFuture<Hold> stays = other.lock("job", brief).acquireAsync();
      Await.until("the other has left word", () -> !wordOf().isEmpty());
      assertThat(hold.release()).isTrue();
      assertThat(Await.value(stays).release()).isTrue();
    }
  }

  /** A session of which nobody has heard locks nothing, and is gone when its TTL has passed. */
  @Test
  void sessionWhoseAnswerWasLost_endsByItself() {
    Tunnel tunnel = new Tunnel(SERVER.get().port());
    LockStore store = store(tunnel.port());
    try {
      Await.value(store.connect().thenApply(nothing -> true));
      tunnel.stallReplies();
      Claim mine = claim(Duration.ofSeconds(2));
      CompletionStage<Answer> lost = attempt(store, mine);
      Await.until("there is a session", () -> sessions().size() == 1);
      tunnel.drop();
      Await.failure(lost);
      tunnel.heal();
      Await.until(
          "another one is made, and has the lock",
          () -> Await.value(attempt(store, mine).handle((answer, failure) -> failure == null)));
      Await.value(store.end(mine, Duration.ZERO, Instant.MIN));
    } finally {
      store.close();
      tunnel.close();
    }
    Await.until("the lost one has ended, too", () -> sessions().isEmpty());
  }
}
