// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.RedisReplicas.Rule;
import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Nodes that were not there when a majority was: each is asked again, whatever becomes of the others. */
class RedlockQuorumTest {
  private static final int NODES = 5;
  private static final byte[][] NOTHING = new byte[0][];

  private final Alarms alarms = new Alarms();
  private final StoreRuntime runtime = alarms.runtime();
  private final RecordingStart events = new RecordingStart();
  private final RedlockQuorum quorum =
      new RedlockQuorum("test", runtime, events, NODES, node -> {});
  private final RedisKeys keys = new RedisKeys("test:");
  private final List<Node> nodes = new ArrayList<>();

  RedlockQuorumTest() {
    for (int i = 0; i < NODES; i++) {
      nodes.add(new Node(i));
    }
  }

  /** A node whose connections for commands are opened by hand. */
  private final class Node implements RedisConnector {
    final List<CompletableFuture<StatefulRedisConnection<byte[], byte[]>>> asked =
        new ArrayList<>();
    final RedlockServer server;

    Node(int number) {
      RedisClock clock = new RedisClock(runtime.ticker());
      RedisLink link = new RedisLink(
          "node " + number,
          runtime,
          quorum.of(number),
          this,
          new FirstQuestion(RedisScript.REDLOCK_CHECK, () -> null, NOTHING, answer -> {}),
          keys.channel(),
          clock,
          Rule.NONE,
          message -> {});
      RedlockRule rule = new RedlockRule(NODES, Duration.ofSeconds(60), RedlockRule.REACH);
      RedisOptions options = RedisOptions.of(RedisSettings.defaults());
      server = new RedlockServer("node " + number, rule, link, clock, keys, options);
    }

    @Override
    public CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands() {
      CompletableFuture<StatefulRedisConnection<byte[], byte[]>> opened = new CompletableFuture<>();
      asked.add(opened);
      return opened;
    }

    @Override
    public CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages() {
      FakeConnection fake = new FakeConnection();
      fake.answer = () -> true;
      return CompletableFuture.completedFuture(fake.connection);
    }

    @Override
    public void close() {}

    void isNotThere() {
      asked.get(asked.size() - 1).completeExceptionally(new RedisConnectionException("nobody"));
    }

    void isThere() {
      FakeConnection fake = new FakeConnection();
      fake.answer = () -> List.of(RedisKeys.ascii("1767225600"), RedisKeys.ascii("0"));
      asked.get(asked.size() - 1).complete(fake.connection);
    }

    boolean isUp() {
      return server.link().node().isUp();
    }
  }

  @Test
  void nodeThatHangs_keepsNoOtherFromBeingAskedAgain() {
    var connected = quorum.connect(nodes.stream().map(each -> each.server).toList());
    for (int i = 0; i < NODES; i++) {
      quorum.leads(i, "server " + i);
    }
    for (int i = 0; i < 3; i++) {
      nodes.get(i).isThere();
    }
    assertThat(connected.toCompletableFuture()).isCompleted();
    Node absent = nodes.get(3);
    Node hanging = nodes.get(4);
    absent.isNotThere();
    for (int times = 2; times <= 4; times++) {
      alarms.runAll();
      assertThat(absent.asked).hasSize(times);
      absent.isNotThere();
    }
    alarms.runAll();
    absent.isThere();
    assertThat(absent.isUp()).isTrue();
    assertThat(hanging.asked).hasSize(1);
    alarms.runAll();
    assertThat(alarms.size())
        .as("nobody is sought that is there, or asked already")
        .isZero();
    hanging.isNotThere();
    alarms.runAll();
    assertThat(hanging.asked).hasSize(2);
  }
}
