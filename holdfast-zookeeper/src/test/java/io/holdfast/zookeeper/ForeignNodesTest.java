// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes below the root that we have not made. */
@Timeout(120)
@Tag("stores")
class ForeignNodesTest {
  private static final String ROOT = "/foreign";

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();

  /** What is no lock's folder is left out of a list, and breaks it no more than what says that it is another lock's. */
  @Test
  void list_leavesThemOut() throws Exception {
    String unprintable = "no\u0007name";
    String encoded = "Ein Schloß";
    try (CuratorFramework curator = CuratorFrameworkFactory.newClient(
            server.address(), 40_000, 20_000, new RetryOneTime(100));
        Holdfast holdfast = Clients.connect("zookeeper://" + server.address() + ROOT);
        Hold plain = holdfast.lock("a").acquire();
        Hold other = holdfast.lock(encoded).acquire()) {
      curator.start();
      make(curator, "x~control", unprintable);
      make(curator, "x~empty", "");
      make(curator, "x~other", "a");
      make(curator, "y".repeat(600), "");
      assertThat(holdfast.admin().list(""))
          .extracting(LockInfo::name)
          .containsExactly(encoded, "a");
      assertThat(plain.release()).isTrue();
      assertThat(other.release()).isTrue();
    }
  }

  private static void make(CuratorFramework curator, String name, String data) throws Exception {
    curator
        .create()
        .creatingParentsIfNeeded()
        .forPath(ROOT + "/00/" + name, data.getBytes(StandardCharsets.UTF_8));
  }
}
