// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One server for all tests of this JVM, emptied after each. */
final class RedisUnderTest implements StoreUnderTest {
  private static @Nullable RedisServer shared;
  private static String version = "";

  private final RedisServer server;

  RedisUnderTest() {
    this.server = server();
  }

  private static synchronized RedisServer server() {
    RedisServer running = shared;
    if (running == null) {
      running = RedisServer.durable();
      shared = running;
      version = running.version();
    }
    return running;
  }

  @Override
  public String kind() {
    return "redis";
  }

  @Override
  public String version() {
    return version;
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
    server.call(redis -> redis.flushall());
  }
}
