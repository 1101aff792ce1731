// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;

/** What {@link PlainRedis} does, at several nodes at once; goes on when a majority has answered. No token, no renewal. */
final class PlainRedlock implements Peer {
  private static final long PATIENCE_SECONDS = 10;

  private final List<RedisClient> clients = new ArrayList<>();
  private final List<StatefulRedisConnection<String, String>> connections = new ArrayList<>();
  private final List<RedisAsyncCommands<String, String>> nodes = new ArrayList<>();
  private final AtomicLong count = new AtomicLong();
  private final String free;

  PlainRedlock(List<String> uris) {
    String digest = "";
    for (String uri : uris) {
      RedisClient client = RedisClient.create(uri);
      clients.add(client);
      StatefulRedisConnection<String, String> connection = client.connect();
      connections.add(connection);
      nodes.add(connection.async());
      digest = connection.sync().scriptLoad(PlainRedis.FREE);
    }
    free = digest;
  }

  @Override
  public Contention.Guard lock(String name) {
    return inside -> {
      String owner = "0123456789abcdef0123456789abcdef-" + count.getAndIncrement();
      majority(name, node -> node.set(name, owner, SetArgs.Builder.nx().px(30_000)), "OK"::equals);
      inside.run();
      majority(
          name,
          node -> node.<Long>evalsha(free, ScriptOutputType.INTEGER, new String[] {name}, owner),
          freed -> freed == 1);
    };
  }

  /** Each node has one connection, on which the later request comes later: nothing is left at one that was not waited for. */
  private <T> void majority(
      String name,
      Function<RedisAsyncCommands<String, String>, RedisFuture<T>> request,
      Predicate<T> agrees)
      throws InterruptedException {
    CountDownLatch majority = new CountDownLatch(nodes.size() / 2 + 1);
    for (RedisAsyncCommands<String, String> node : nodes) {
      CompletionStage<Void> answered = request.apply(node).thenAccept(answer -> {
        if (agrees.test(answer)) {
          majority.countDown();
        }
      });
      answered.whenComplete((done, failure) -> {});
    }
    if (!majority.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("no majority for " + name);
    }
  }

  @Override
  public void close() {
    connections.forEach(StatefulRedisConnection::close);
    clients.forEach(RedisClient::shutdown);
  }
}
