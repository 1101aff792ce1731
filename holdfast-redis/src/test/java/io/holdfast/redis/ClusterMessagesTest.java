// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.LazyServer;
import io.lettuce.core.KillArgs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who is told of a hand-over in a cluster: the node's own subscribers; all nodes only where that cannot be. */
@Tag("stores")
class ClusterMessagesTest {
  private static final int NAMES = 30;

  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();

  @RegisterExtension
  static final LazyServer<ClusterServers> SERVERS =
      new LazyServer<>(() -> new ClusterServers(Duration.ofMinutes(1)));

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    Await.until("nobody listens any more", () -> sharded(0));
  }

  /** With a time for each of its many requests that a machine which stands still does not use up. */
  private Holdfast client(String uri) {
    Holdfast client =
        Holdfast.builder().store(uri).requestTimeout(Duration.ofSeconds(10)).build();
    open.add(client);
    return client;
  }

  private static boolean sharded(int clients) {
    return SERVERS.get().primaries().stream().allMatch(each -> {
      List<String> channels = each.call(redis -> redis.pubsubShardChannels());
      return channels.size() == clients;
    });
  }

  private static long plain() {
    return SERVERS.get().servers().stream()
        .mapToLong(each -> {
          List<String> channels = each.call(redis -> redis.pubsubChannels());
          return channels.size();
        })
        .sum();
  }

  /** How many messages the nodes have passed on to all others. */
  private static long spread() {
    long sum = 0;
    for (RedisServer each : SERVERS.get().servers()) {
      String info = each.call(redis -> redis.clusterInfo());
      sum += Long.parseLong(
          RedisDoctor.parse(info).getOrDefault("cluster_stats_messages_publish_sent", "0"));
    }
    return sum;
  }

  private List<CompletableFuture<Hold>> waits(Holdfast holder, Holdfast waiter, List<Hold> holds)
      throws InterruptedException {
    List<CompletableFuture<Hold>> waits = new ArrayList<>();
    for (int i = 0; i < NAMES; i++) {
      String name = "x" + i;
      holds.add(holder.lock(name, LONG).acquire());
      waits.add(waiter.lock(name, LONG).acquireAsync());
      Await.until(
          "it waits",
          () -> holder.admin().inspect(name).map(info -> info.waiters().known()).orElse(0) == 1);
    }
    return waits;
  }

  private static void handOver(List<Hold> holds, List<CompletableFuture<Hold>> waits) {
    holds.forEach(each -> assertThat(each.release()).isTrue());
    waits.forEach(each -> assertThat(Await.value(each).release()).isTrue());
  }

  /** Nothing goes over the bus, and the number of locks has no say in that of the subscriptions. */
  @Test
  void handOver_doesNotSpread() throws Exception {
    Holdfast holder = client(SERVERS.get().uri());
    Holdfast waiter = client(SERVERS.get().uri());
    Await.until("both listen at each node", () -> sharded(2));
    long before = spread();
    List<Hold> holds = new ArrayList<>();
    List<CompletableFuture<Hold>> waits = waits(holder, waiter, holds);
    assertThat(sharded(2)).isTrue();
    assertThat(plain()).isEqualTo(2);
    handOver(holds, waits);
    assertThat(spread()).isEqualTo(before);
  }

  /** Subscriptions that broke since the wait began: it is told on the plain channel, or looks again. */
  @Test
  void brokenSubscription_losesNoWakeUp() throws Exception {
    Holdfast holder = client(SERVERS.get().uri());
    Holdfast waiter = client(SERVERS.get().uri());
    Await.until("both listen at each node", () -> sharded(2));
    List<Hold> holds = new ArrayList<>();
    List<CompletableFuture<Hold>> waits = waits(holder, waiter, holds);
    SERVERS
        .get()
        .primaries()
        .forEach(each -> each.call(redis -> redis.clientKill(KillArgs.Builder.typePubsub())));
    handOver(holds, waits);
    Await.until("both listen again", () -> sharded(2));
  }

  /** Who may not listen to sharded channels, as on servers before Redis 7, is told on the plain one. */
  @Test
  void withoutShardedChannels_thePlainOneIsTaken() throws Exception {
    for (RedisServer each : SERVERS.get().servers()) {
      each.setUser(
          "old", List.of("on", ">secret", "~*", "&*", "+@all", "-ssubscribe", "-spublish"));
    }
    String uri = SERVERS.get().uri().replace("//", "//old:secret@");
    Holdfast holder = client(uri);
    Holdfast waiter = client(uri);
    long before = spread();
    List<Hold> holds = new ArrayList<>();
    handOver(holds, waits(holder, waiter, holds));
    assertThat(sharded(0)).isTrue();
    assertThat(spread()).isGreaterThan(before);
    // one who may hand over to one who may not, and the other way round
    Holdfast able = client(SERVERS.get().uri());
    Await.until("it listens at each node", () -> sharded(1));
    List<Hold> again = new ArrayList<>();
    handOver(again, waits(able, waiter, again));
    List<Hold> back = new ArrayList<>();
    handOver(back, waits(holder, able, back));
  }
}
