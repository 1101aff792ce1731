// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.WriteUnknownException;
import io.holdfast.redis.OneTimeTokens.Result;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.LazyServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One-time tokens: one of many is accepted, and what is accepted is only what was issued. */
@Tag("stores")
@Tag("oldest")
class OneTimeTokensTest {
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final int SUBMITS = 50;
  private static final int ROUNDS = 10;

  @RegisterExtension
  static final LazyServer<RedisServer> SERVER = new LazyServer<>(RedisServer::forgetful);

  @SuppressWarnings("NullAway.Init")
  private RedisClient client;

  @SuppressWarnings("NullAway.Init")
  private OneTimeTokens tokens;

  @BeforeEach
  void connect() {
    SERVER.get().call(redis -> redis.flushall());
    client = RedisClient.create(SERVER.get().uri());
    client.setOptions(ClientOptions.builder().autoReconnect(false).build());
    tokens = OneTimeTokens.using(client);
  }

  @AfterEach
  void disconnect() {
    tokens.close();
    Direct.close(client);
  }

  /** A name that was drawn twice is told, and what is there stays. */
  @Test
  void nameThatIsThere_isNotIssuedAgain() {
    String issue = RedisScript.ONCE_ISSUE.text();
    String[] keys = {"once:x"};
    List<Object> first = SERVER
        .get()
        .call(redis -> redis.eval(issue, ScriptOutputType.MULTI, keys, "one", "600000"));
    List<Object> second = SERVER
        .get()
        .call(redis -> redis.eval(issue, ScriptOutputType.MULTI, keys, "other", "600000"));
    assertThat(first.get(1)).isEqualTo("1");
    assertThat(second.get(1)).isEqualTo("0");
    String kept = SERVER.get().call(redis -> redis.get("once:x"));
    assertThat(kept).isEqualTo("1:one");
  }

  /** 50 submits of one form at once, from threads with connections of their own: one is accepted. */
  @Test
  void fiftySubmits_oneIsAccepted() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(SUBMITS);
    try {
      int answered = 0;
      for (int round = 0; answered < ROUNDS; round++) {
        assertThat(round).as("rounds, answered or not").isLessThan(3 * ROUNDS);
        String token = tokens.issue("user:42", "order", LONG);
        CountDownLatch go = new CountDownLatch(1);
        List<Future<Result>> submits = new ArrayList<>();
        for (int i = 0; i < SUBMITS; i++) {
          submits.add(threads.submit(() -> {
            try (OneTimeTokens own = OneTimeTokens.using(client)) {
              go.await();
              return own.consume(token, "user:42", "order");
            }
          }));
        }
        go.countDown();
        List<Result> results = new ArrayList<>();
        for (Future<Result> each : submits) {
          answer(each).ifPresent(results::add);
        }
        assertThat(results).filteredOn(each -> each == Result.ACCEPTED).hasSizeLessThanOrEqualTo(1);
        if (results.size() < SUBMITS) {
          // the one that was accepted may be one that got no answer in its two seconds: another round has to tell
          continue;
        }
        assertThat(results).filteredOn(each -> each == Result.ACCEPTED).hasSize(1);
        assertThat(results).filteredOn(each -> each == Result.GONE).hasSize(SUBMITS - 1);
        answered++;
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static Optional<Result> answer(Future<Result> submit) throws Exception {
    try {
      return Optional.of(submit.get());
    } catch (ExecutionException e) {
      if (e.getCause() instanceof WriteUnknownException) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Who has somebody else's token, or uses it for something else, is refused, and does not use it up. */
  @Test
  void foreignToken_isRefused_andStays() throws Exception {
    String token = tokens.issue("user:42", "order", LONG);
    assertThat(tokens.consume(token, "user:43", "order")).isEqualTo(Result.FOREIGN);
    assertThat(tokens.consume(token, "user:42", "cancel")).isEqualTo(Result.FOREIGN);
    assertThat(tokens.consume(token, "user:42o", "rder")).isEqualTo(Result.FOREIGN);
    assertThat(tokens.consume(token, "user:42", "order")).isEqualTo(Result.ACCEPTED);
    assertThat(tokens.consume(token, "user:42", "order")).isEqualTo(Result.GONE);
  }

  /** What never was a token, and one whose time is up, are gone; nothing stays in the server. */
  @Test
  void expiredAndInvented_areGone() throws Exception {
    for (String invented : new String[] {"", "x", "{}", "*", "a b\n"}) {
      assertThat(tokens.consume(invented, "user:42", "order")).isEqualTo(Result.GONE);
    }
    String token = tokens.issue("user:42", "order", Duration.ofMillis(50));
    Await.until("it has ended", () -> SERVER.get().call(redis -> redis.dbsize()) == 0);
    assertThat(tokens.consume(token, "user:42", "order")).isEqualTo(Result.GONE);
    String longer = tokens.issue("user:42", "order", LONG);
    String key = SERVER.get().call(redis -> redis.keys("*")).get(0);
    assertThat(key).startsWith("holdfast:once:{").doesNotContain(longer);
    String stored = SERVER.get().call(redis -> redis.get(key));
    assertThat(stored).doesNotContain("user", "order");
    assertThat(Duration.ofMillis(SERVER.get().call(redis -> redis.pttl(key))))
        .isBetween(LONG.minusMinutes(1), LONG);
  }

  @Test
  void tokens_areAllDifferent() throws Exception {
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      String token = tokens.issue("user:42", "order", LONG);
      assertThat(token).matches("[\\w-]{22}");
      assertThat(seen.add(token)).isTrue();
    }
    for (Duration wrong : new Duration[] {Duration.ZERO, Duration.ofDays(367), LONG.negated()}) {
      assertThatThrownBy(() -> tokens.issue("user:42", "order", wrong))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  /** No answer: nobody knows. Asked again, the token is gone if it was consumed, and accepted if it was not. */
  @Test
  void lostReply_isUnknown() throws Exception {
    String token = tokens.issue("user:42", "order", LONG);
    SERVER.get().pause();
    try {
      assertThatThrownBy(() -> tokens.consume(token, "user:42", "order"))
          .isInstanceOf(WriteUnknownException.class);
    } finally {
      SERVER.get().resume();
    }
    // what waited in the server's socket is applied when it goes on, and before what comes later on that connection
    assertThat(tokens.consume(token, "user:42", "order")).isEqualTo(Result.GONE);
    String other = tokens.issue("user:42", "order", LONG);
    CompletableFuture<?> broken = CompletableFuture.runAsync(() -> {
      SERVER.get().kill();
      SERVER.get().start();
    });
    Await.value(broken);
    assertThatThrownBy(() -> tokens.consume(other, "user:42", "order"))
        .isInstanceOf(WriteUnknownException.class);
  }

  /** On the application's own connection, and in a cluster. */
  @Test
  void otherConnections_doToo() throws Exception {
    try (var connection = client.connect(ByteArrayCodec.INSTANCE)) {
      OneTimeTokens given = OneTimeTokens.on(connection.async());
      String token = given.issue("user:42", "order", LONG);
      given.close();
      assertThat(tokens.consume(token, "user:42", "order")).isEqualTo(Result.ACCEPTED);
    }
    try (ClusterServers servers = new ClusterServers(Duration.ofMinutes(1))) {
      RedisClusterClient cluster = RedisClusterClient.create(
          "redis://127.0.0.1:" + servers.servers().get(0).port());
      try (OneTimeTokens clustered = OneTimeTokens.using(cluster)) {
        for (int i = 0; i < 20; i++) {
          String token = clustered.issue("user:" + i, "order", LONG);
          assertThat(clustered.consume(token, "user:" + i, "order")).isEqualTo(Result.ACCEPTED);
        }
      } finally {
        Direct.close(cluster);
      }
    }
  }
}
