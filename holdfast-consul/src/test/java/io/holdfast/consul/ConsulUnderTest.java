// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One server for all tests of this JVM; each has keys of its own. */
final class ConsulUnderTest implements StoreUnderTest {
  /** Sessions as short as tests can wait for, and what follows them. */
  static final String BRIEF = "&holdfast.session-ttl-min=1s&holdfast.lock-delay=1s";

  private static @Nullable ConsulServer shared;
  private static String version = "";
  private static int made;

  private final ConsulServer server;
  private final String prefix;

  ConsulUnderTest() {
    this.server = server();
    this.prefix = nextPrefix();
  }

  static synchronized ConsulServer server() {
    ConsulServer running = shared;
    if (running == null) {
      running = ConsulServer.with();
      shared = running;
      version = running.version();
    }
    return running;
  }

  static synchronized String nextPrefix() {
    return "test-" + ++made + "/";
  }

  @Override
  public String kind() {
    return "consul";
  }

  @Override
  public String version() {
    return version;
  }

  @Override
  public String provision() {
    return "child process";
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.complementOf(EnumSet.of(Capability.FAIR));
  }

  @Override
  public LockStore open() {
    return ConsulStore.at(StoreAddress.parse(uri()));
  }

  @Override
  public String uri() {
    return server.uri() + "?holdfast.prefix=" + prefix + BRIEF;
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
    // what is left ends with its session, under keys that nobody else uses
  }
}
