// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Holdfast;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** One server for all tests of this JVM, with a root for each. */
final class ZooKeeperUnderTest implements StoreUnderTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();
  private static final LazyServer<ZooKeeperServer> SHARED =
      new LazyServer<>(ZooKeeperServer::alone);

  private final ZooKeeperServer server = server();
  private final String uri = "zookeeper://" + server.address() + "/test/" + ROOTS.incrementAndGet()
      + "?holdfast.tick=" + ZooKeeperServer.TICK_MILLIS + "ms&holdfast.longest-lease=11m";

  static ZooKeeperServer server() {
    return SHARED.get();
  }

  /** Begins a client whose requests last longer than a busy machine stands still: an answer is what a test looks at. */
  static Holdfast.Builder patient() {
    return Holdfast.builder().requestTimeout(Duration.ofSeconds(5));
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
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public LockStore open() {
    return MortalClients.store(StoreAddress.parse(uri));
  }

  @Override
  public String uri() {
    return uri;
  }

  @Override
  public Duration leaseOfKilledWaiter() {
    return Duration.ofSeconds(2);
  }

  @Override
  public void restart() {
    server.restart();
  }

  @Override
  public void stall() {
    server.process().pause();
  }

  @Override
  public void resume() {
    server.process().resume();
  }

  @Override
  public void close() {
    // the next test has a root of its own
  }
}
