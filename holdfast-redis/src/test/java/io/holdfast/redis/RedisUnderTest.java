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

/** One server for all tests of this JVM, emptied when none is on it. */
final class RedisUnderTest implements StoreUnderTest {
  private static final LazyServer<RedisServer> SHARED = new LazyServer<>(RedisServer::durable);

  private static final Occupancy TESTS =
      new Occupancy(() -> SHARED.get().call(redis -> redis.flushall()));

  private final RedisServer server;

  RedisUnderTest() {
    this.server = SHARED.get();
    TESTS.enter();
  }

  @Override
  public String version() {
    return server.version();
  }

  @Override
  public String provision() {
    return "child process, appendfsync always";
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public LockStore open() {
    return RedisStore.at(StoreAddress.parse(server.uri()));
  }

  @Override
  public String uri() {
    return server.uri();
  }

  @Override
  public void restart() {
    server.restart();
  }

  @Override
  public void stall() {
    server.pause();
  }

  @Override
  public void resume() {
    server.resume();
  }

  @Override
  public void close() {
    TESTS.leave();
  }
}
