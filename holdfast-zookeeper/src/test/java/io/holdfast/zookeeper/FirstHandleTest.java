// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that has no file descriptor left when it first asks for a lock, and has some later. */
@Timeout(120)
@Tag("stores")
class FirstHandleTest {
  private final ZooKeeperServer server = ZooKeeperUnderTest.server();

  /** Fails to make the first handles. */
  private static final class Poor extends HandledClients {
    private final AtomicInteger failures;

    Poor(ZooKeeperAddress address, int failures) {
      super(address);
      this.failures = new AtomicInteger(failures);
    }

    @Override
    public ZooKeeper newZooKeeper(
        String servers,
        int sessionTimeout,
        Watcher watcher,
        boolean canBeReadOnly,
        ZKClientConfig config)
        throws IOException {
      if (failures.getAndDecrement() > 0) {
        throw new IOException("Too many open files");
      }
      return new ZooKeeper(servers, sessionTimeout, watcher, canBeReadOnly, config);
    }
  }

  @Test
  void handleThatCouldNotBeMade_isMadeLater() throws Exception {
    String uri = "zookeeper://" + server.address() + "/poor";
    ZooKeeperAddress address = new ZooKeeperAddress(StoreAddress.parse(uri));
    Poor clients = new Poor(address, 2);
    try (Holdfast client = Holdfast.builder()
        .store(ZooKeeperStore.at(StoreAddress.parse(uri), address, clients))
        .requestTimeout(Duration.ofMillis(500))
        .connectLazily()
        .build()) {
      assertThrows(
          StoreUnavailableException.class, () -> client.lock("x").tryAcquire().isPresent());
      assertTrue(client.lock("x").acquire(Duration.ofSeconds(60)).release());
    }
  }

  /** The same for the session of another length of lease, which is opened when it is first needed. */
  @Test
  void handleOfAnotherLease_isMadeLater() throws Exception {
    String uri = "zookeeper://" + server.address() + "/poorer";
    ZooKeeperAddress address = new ZooKeeperAddress(StoreAddress.parse(uri));
    Poor clients = new Poor(address, 0);
    LockOptions other = LockOptions.builder().leaseFor(Duration.ofSeconds(5)).build();
    try (Holdfast client = Holdfast.builder()
        .store(ZooKeeperStore.at(StoreAddress.parse(uri), address, clients))
        .requestTimeout(Clients.REQUEST_TIMEOUT)
        .build()) {
      clients.failures.set(2);
      assertTrue(client.lock("x", other).acquire(Duration.ofSeconds(60)).release());
      assertTrue(clients.failures.get() < 0, "no handle was missing");
    }
  }
}
