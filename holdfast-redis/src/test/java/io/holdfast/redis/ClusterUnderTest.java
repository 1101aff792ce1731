// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.Occupancy;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** A cluster of six nodes for all tests of this JVM, emptied when none is on it. */
final class ClusterUnderTest implements StoreUnderTest {
  /** Longer than any test of the contract stalls its store: it does not want a failover, which has tests of its own. */
  private static final Duration NODE_TIMEOUT = Duration.ofMinutes(5);

  private static final LazyServer<ClusterServers> SHARED =
      new LazyServer<>(() -> new ClusterServers(NODE_TIMEOUT));

  private static final Occupancy TESTS = new Occupancy(
      () -> primaries(SHARED.get()).forEach(each -> each.call(redis -> redis.flushall())));

  private final ClusterServers servers;
  private final List<RedisServer> primaries;

  ClusterUnderTest() {
    this.servers = SHARED.get();
    this.primaries = primaries(servers);
    TESTS.enter();
  }

  private static List<RedisServer> primaries(ClusterServers servers) {
    return servers.servers().subList(0, 3);
  }

  @Override
  public String version() {
    return primaries.get(0).version();
  }

  @Override
  public String provision() {
    return "child processes: 3 primaries with appendfsync always, 3 replicas";
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public LockStore open() {
    return RedisStore.at(StoreAddress.parse(servers.uri()));
  }

  @Override
  public String uri() {
    return servers.uri();
  }

  @Override
  public void restart() {
    primaries.forEach(RedisServer::kill);
    primaries.forEach(RedisServer::start);
    servers.awaitWhole();
  }

  @Override
  public void stall() {
    primaries.forEach(RedisServer::pause);
  }

  @Override
  public void resume() {
    primaries.forEach(RedisServer::resume);
  }

  @Override
  public void close() {
    TESTS.leave();
  }
}
