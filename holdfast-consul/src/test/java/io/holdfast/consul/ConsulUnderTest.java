// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.process.LazyServer;
import java.util.EnumSet;
import java.util.Set;

/** One server for all tests of this JVM; each has keys of its own. */
final class ConsulUnderTest implements StoreUnderTest {
  /** Sessions as short as tests can wait for, and what follows them. */
  static final String BRIEF = "&holdfast.session-ttl-min=1s&holdfast.lock-delay=1s";

  private static final LazyServer<ConsulServer> SHARED = new LazyServer<>(ConsulServer::with);
  private static int made;

  private final ConsulServer server;
  private final String prefix;

  ConsulUnderTest() {
    this.server = server();
    this.prefix = nextPrefix();
  }

  static ConsulServer server() {
    return SHARED.get();
  }

  static synchronized String nextPrefix() {
    return "test-" + ++made + "/";
  }

  @Override
  public String version() {
    return server.version();
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
