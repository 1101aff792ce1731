// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.Occupancy;
import java.util.EnumSet;
import java.util.Set;

/** A primary, a replica and three sentinels for all tests of this JVM, emptied when none is on them. */
final class SentinelUnderTest implements StoreUnderTest {
  private static final LazyServer<SentinelServers> SHARED =
      new LazyServer<>(() -> new SentinelServers(""));

  private static final Occupancy TESTS =
      new Occupancy(() -> SHARED.get().primary().call(redis -> redis.flushall()));

  private final SentinelServers servers;
  private final RedisServer primary;

  SentinelUnderTest() {
    this.servers = SHARED.get();
    this.primary = servers.primary();
    TESTS.enter();
  }

  @Override
  public String version() {
    return primary.version();
  }

  @Override
  public String provision() {
    return "child processes: primary with appendfsync always, replica, 3 sentinels";
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
    primary.restart();
  }

  @Override
  public void stall() {
    primary.pause();
  }

  @Override
  public void resume() {
    primary.resume();
  }

  @Override
  public void close() {
    TESTS.leave();
  }
}
