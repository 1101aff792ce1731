// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.RedisReplicas.Rule;
import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who looks at a cluster's slots goes on doing so. */
class ClusterScoutTest {
  private final Alarms alarms = new Alarms();
  private final ClusterClient client = new ClusterClient(
      false,
      () -> CompletableFuture.completedFuture(List.of(RedisURI.create("redis://127.0.0.1:1"))),
      () -> CompletableFuture.completedFuture(List.of()),
      pattern -> new OwnRedisClient(pattern, null, Duration.ofSeconds(1)));

  private ClusterScout scout(StoreRuntime runtime) {
    RedisKeys keys = new RedisKeys("test:");
    RecordingStart events = new RecordingStart();
    RedisCluster cluster =
        new RedisCluster("test", runtime, events, client, keys, Rule.NONE, message -> {});
    return new ClusterScout("test", runtime, client, cluster);
  }

  @AfterEach
  void close() {
    client.close();
  }

  /** A look that ends with an error, of memory for instance, is followed by the next. */
  @Test
  void look_thatThrows_isFollowedByTheNext() {
    ClusterScout scout = scout(alarms.runtime());
    // the client was not prepared, and throws
    scout.lookSoon();
    for (int i = 0; i < 2; i++) {
      assertThat(alarms.size()).isEqualTo(1);
      alarms.run();
    }
    scout.lookSoon();
    assertThat(alarms.size()).as("one for all").isEqualTo(1);
  }

  /** A look as long as one request may take, and five seconds at least. */
  @Test
  void look_hasTheTimeOfARequest() {
    client.prepare();
    var patient = scout(alarms.runtime(Duration.ofSeconds(20))).read();
    assertThat(alarms.first()).isEqualTo(Duration.ofSeconds(20));
    alarms.run();
    assertThat(patient.toCompletableFuture()).isCompletedExceptionally();
  }
}
