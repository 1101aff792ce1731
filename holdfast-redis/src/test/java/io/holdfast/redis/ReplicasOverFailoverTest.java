// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code holdfast.replicas} where there are failovers: with sentinels, and at each node of a cluster. */
@Tag("all")
class ReplicasOverFailoverTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();

  private static final String ONE = "?holdfast.replicas=1&holdfast.replicas-timeout=900ms";

  /** What was granted is at the replica that takes over, though nobody waited between the grant and the crash. */
  @Test
  void sentinel_failover_forgetsNoGrant() throws Exception {
    try (SentinelServers servers = new SentinelServers("");
        Holdfast client = Holdfast.connect(servers.uri() + ONE)) {
      RedisServer former = servers.primary();
      Hold hold = client.lock("x", LONG).acquire();
      former.kill();
      servers.awaitFailoverFrom(former);
      try (Holdfast other = Holdfast.connect(servers.uri())) {
        assertThat(other.lock("x", LONG).tryAcquire()).isEmpty();
        assertThat(other.admin().inspect("x").map(LockInfo::token)).contains(hold.token());
      }
      assertThat(hold.isValid()).isTrue();
      // the new primary has no replica: nothing more is granted until it has one again
      former.start();
      int newPrimary = servers.primary().port();
      // as the sentinels do, too, but only when they next ask it what it is
      former.call(redis -> redis.replicaof("127.0.0.1", newPrimary));
      Await.until("it is renewed, and confirmed", () -> hold.state() == HoldState.HELD);
      assertThat(hold.release()).isTrue();
      Await.until("locks are granted again", () -> isGranted(client, "y"));
    }
  }

  /** Each node of a cluster has replicas of its own: where they answer, locks are granted. */
  @Test
  void cluster_eachNodeForItself() throws Exception {
    try (ClusterServers servers = new ClusterServers(Duration.ofMinutes(1));
        Holdfast client = Holdfast.connect(servers.uri() + ONE)) {
      String here = nameAt(servers, 0);
      String there = nameAt(servers, 1);
      RedisServer replica = servers.servers().get(3);
      replica.pause();
      try {
        assertThatThrownBy(() -> client.lock(here, LONG).acquire().close())
            .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
              assertThat(e.reason()).isEqualTo(Reason.NOT_REPLICATED);
              assertThat(e.getMessage()).contains("0 of the 1");
            });
        Await.until("it is given back", () -> client.admin().inspect(here).isEmpty());
        assertThat(client.lock(there, LONG).acquire().release()).isTrue();
      } finally {
        replica.resume();
      }
      Await.until("locks are granted again", () -> isGranted(client, here));
    }
  }

  private static String nameAt(ClusterServers servers, int node) {
    RedisServer wanted = servers.servers().get(node);
    return IntStream.range(0, 1000)
        .mapToObj(i -> "x" + i)
        .filter(name -> servers.primary(name).equals(wanted))
        .findFirst()
        .orElseThrow();
  }

  private static boolean isGranted(Holdfast client, String name) {
    try {
      return client.lock(name, LONG).tryAcquire().map(Hold::release).orElse(false);
    } catch (StoreUnavailableException e) {
      return false;
    }
  }
}
