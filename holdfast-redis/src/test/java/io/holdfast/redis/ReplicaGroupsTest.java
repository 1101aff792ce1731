// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.RedisReplicas.Confirmed;
import io.holdfast.redis.RedisReplicas.Rule;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A group of scripts and the one {@code WAIT} for them, on a server without replicas: none ever confirms. What is lost on
 * the way fails its own group as unknown, and no other.
 */
@Tag("stores")
class ReplicaGroupsTest {
  private static final String MINUTE = "60000000";
  private static final String SOON = "4503599627370496";

  @RegisterExtension
  static final ProxiedRedis REDIS = new ProxiedRedis();

  private final RecordingStart start = new RecordingStart();
  private final RedisKeys keys = new RedisKeys("test:");
  private final List<String> told = new ArrayList<>();

  @SuppressWarnings("NullAway.Init")
  private RedisClient client;

  @SuppressWarnings("NullAway.Init")
  private RedisNode node;

  @SuppressWarnings("NullAway.Init")
  private RedisReplicas replicas;

  @BeforeEach
  void open() {
    client = RedisClient.create(REDIS.proxy().uri());
    GivenRedisClient connector = new GivenRedisClient(client);
    node = new RedisNode(
        "test",
        start.runtime(),
        connector::commands,
        FirstQuestion.check(keys::ofNothing, keys.channel()),
        new RedisClock(start.runtime().ticker()),
        new Rule(1, Duration.ofMillis(200)),
        new Astray(() -> told.add("astray")));
    Await.value(node.open());
    replicas = java.util.Objects.requireNonNull(node.replicas());
  }

  @AfterEach
  void close() {
    Await.value(node.close());
    Direct.close(client);
  }

  /** Asks for a lock that nobody has, and that counts. */
  private CompletableFuture<Confirmed> attempt(String name) {
    String[] arguments = {"aa-" + name, "T", SOON, MINUTE, "holder", MINUTE, MINUTE, "test:client:"
    };
    byte[][] sent = new byte[arguments.length][];
    for (int i = 0; i < sent.length; i++) {
      sent[i] = RedisKeys.ascii(arguments[i]);
    }
    byte[] key = RedisKeys.ascii("test:{" + name + "}");
    byte[][] of = {
      key, RedisKeys.ascii("test:{" + name + "}:q"), RedisKeys.ascii("test:{" + name + "}:w")
    };
    return replicas.run(answer -> true, RedisScript.ATTEMPT, of, sent).toCompletableFuture();
  }

  private static void assertUnknown(Throwable failure) {
    assertThat(failure)
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.notApplied()).isFalse());
  }

  /** A WAIT that is not answered is given up, long before its connection is: what came meanwhile goes on. */
  @Test
  void groupThatIsNotAnswered_isGivenUp_andTheNextOneGoesOn() {
    Catch held = REDIS.proxy().next("wait", Fate.HOLD_REPLY);
    CompletableFuture<Confirmed> first = attempt("one");
    Await.value(held.caught());
    CompletableFuture<Confirmed> second = attempt("two");
    CompletableFuture<Confirmed> third = attempt("three");
    Throwable failure = Await.failure(first);
    assertUnknown(failure);
    assertThat(failure).hasMessageContaining("no answer in time");
    assertThat(told).isEmpty();
    assertThat(REDIS.redis().exists("test:{one}")).isOne();
    held.letGo();
    assertThat(Await.value(second).replicas()).isZero();
    assertThat(Await.value(third).replicas()).isZero();
    assertThat(REDIS.proxy().count("wait"))
        .as("those that came meanwhile share one")
        .isEqualTo(3);
  }

  /** The script, or the WAIT, is dropped on its way, or its answer is: unknown, and the next group has a new connection. */
  @ParameterizedTest
  @CsvSource({
    "attempt, LOSE_REQUEST",
    "attempt, LOSE_REPLY",
    "wait, LOSE_REQUEST",
    "wait, LOSE_REPLY"
  })
  void commandThatIsDropped_failsItsGroupAlone(String command, Fate fate) {
    REDIS.proxy().next(command, fate);
    assertUnknown(Await.failure(attempt("one")));
    Await.until("the next one is run", () -> isRun("two"));
    long granted = REDIS.redis().exists("test:{one}");
    assertThat(granted).isEqualTo(command.equals("attempt") && fate == Fate.LOSE_REQUEST ? 0 : 1);
  }

  private boolean isRun(String name) {
    CompletableFuture<Confirmed> attempt = attempt(name);
    return attempt.handle((confirmed, failure) -> confirmed != null).join();
  }
}
