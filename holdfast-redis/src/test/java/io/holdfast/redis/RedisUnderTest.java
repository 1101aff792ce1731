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
import java.util.function.Supplier;

/** One server of its kind for all tests of this JVM, emptied when none is on it. */
final class RedisUnderTest implements StoreUnderTest {
  private static final Shared REDIS = new Shared(RedisServer::durable);
  private static final Shared VALKEY = new Shared(RedisServer::durableValkey);

  private final Occupancy tests;
  private final RedisServer server;

  private RedisUnderTest(Shared shared) {
    this.server = shared.server.get();
    this.tests = shared.tests;
    tests.enter();
  }

  /** A server that tests share, and which of them are on it. */
  private static final class Shared {
    private final LazyServer<RedisServer> server;
    private final Occupancy tests;

    Shared(Supplier<RedisServer> start) {
      server = new LazyServer<>(start);
      tests = new Occupancy(() -> server.get().call(redis -> redis.flushall()));
    }
  }

  static RedisUnderTest redis() {
    return new RedisUnderTest(REDIS);
  }

  static RedisUnderTest valkey() {
    return new RedisUnderTest(VALKEY);
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
    tests.leave();
  }
}
