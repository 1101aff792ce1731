// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.ClusterMap.Endpoint;
import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The addresses of a cluster whose nodes are all gone are found once more, whatever became of an earlier attempt. */
class ClusterClientTest {
  private final List<CompletableFuture<List<RedisURI>>> asked = new ArrayList<>();
  private boolean broken;
  private final Alarms alarms = new Alarms();
  private final StoreRuntime runtime = alarms.runtime();
  private final ClusterClient client = new ClusterClient(
      true,
      () -> CompletableFuture.completedFuture(at(1)),
      () -> {
        if (broken) {
          throw new NoClassDefFoundError("of the test");
        }
        CompletableFuture<List<RedisURI>> found = new CompletableFuture<>();
        asked.add(found);
        return found;
      },
      pattern -> new OwnRedisClient(pattern, null, Duration.ofSeconds(2)));

  private static List<RedisURI> at(int... ports) {
    List<RedisURI> uris = new ArrayList<>();
    for (int port : ports) {
      uris.add(RedisURI.create("127.0.0.1", port));
    }
    return uris;
  }

  private void assertSeedIs(int port) {
    assertThat(client.seeds()).containsExactly(new Endpoint("127.0.0.1", port));
  }

  @Test
  void findAgain_asksOnceAtATime() {
    client.prepare();
    client.findAgain(runtime);
    client.findAgain(runtime);
    assertThat(asked).hasSize(1);
    asked.get(0).complete(at(2));
    assertSeedIs(2);
    assertThat(alarms.size()).as("a timer that nobody needs").isZero();
    client.findAgain(runtime);
    assertThat(asked).hasSize(2);
    asked.get(1).completeExceptionally(new IllegalStateException("nobody there"));
    assertSeedIs(2);
    client.findAgain(runtime);
    assertThat(asked).hasSize(3);
    asked.get(2).complete(List.of());
    assertSeedIs(2);
  }

  /** The application's client waits for a node that died while it was asked; the next attempt would find the others. */
  @Test
  void findAgain_doesNotWaitForOneThatHangs() {
    client.prepare();
    client.findAgain(runtime);
    alarms.run();
    client.findAgain(runtime);
    assertThat(asked).hasSize(2);
    asked.get(1).complete(at(2));
    assertSeedIs(2);
    client.findAgain(runtime);
    client.findAgain(runtime);
    assertThat(asked).as("the third is still under way").hasSize(3);
  }

  /** What an attempt found that hung for long is older than what the next one has found. */
  @Test
  void findAgain_goesByTheNewestAttempt() {
    client.prepare();
    for (int i = 0; i < 4; i++) {
      client.findAgain(runtime);
      alarms.run();
    }
    asked.get(1).complete(at(2));
    assertSeedIs(2);
    asked.get(0).complete(at(3));
    assertSeedIs(2);
    asked.get(2).complete(at(4));
    assertSeedIs(4);
    asked.get(3).complete(List.of());
    assertSeedIs(4);
  }

  /** A client whose time has no end is not asked for more and more. */
  @Test
  void attemptsUnderWay_areLimited() {
    client.prepare();
    for (int i = 0; i < 30; i++) {
      client.findAgain(runtime);
      if (alarms.size() > 0) {
        alarms.run();
      }
    }
    assertThat(asked).hasSize(16);
    asked.get(7).completeExceptionally(new IllegalStateException("a minute is over"));
    client.findAgain(runtime);
    client.findAgain(runtime);
    assertThat(asked).hasSize(17);
    asked.get(16).complete(at(2));
    assertSeedIs(2);
  }

  @Test
  void findAgain_thatThrows_isFollowedByTheNext() {
    client.prepare();
    broken = true;
    client.findAgain(runtime);
    broken = false;
    client.findAgain(runtime);
    assertThat(asked).hasSize(1);
  }
}
