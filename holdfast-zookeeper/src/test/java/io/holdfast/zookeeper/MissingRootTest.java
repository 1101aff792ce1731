// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ConfigurationException;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.Stores;
import io.holdfast.testkit.Clients;
import java.nio.charset.StandardCharsets;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store that only looks makes no node: a misspelt root is an error, and not an empty store. */
@Timeout(120)
@Tag("stores")
class MissingRootTest {
  private final String server = "zookeeper://" + ZooKeeperUnderTest.server().address();
  private final CuratorFramework nodes = CuratorFrameworkFactory.newClient(
      ZooKeeperUnderTest.server().address(), 40_000, 20_000, new RetryOneTime(100));

  @BeforeEach
  void connect() {
    nodes.start();
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  private Holdfast looking(String root) {
    return ZooKeeperUnderTest.patient()
        .store(Stores.openExisting(server + root))
        .build();
  }

  private void assertMissing(String root) {
    assertThatThrownBy(() -> looking(root).close())
        .isInstanceOfSatisfying(StoreUnavailableException.class, told -> {
          assertThat(told.reason()).isEqualTo(Reason.UNREACHABLE);
          assertThat(told)
              .cause()
              .isInstanceOfSatisfying(
                  StoreException.class, cause -> assertThat(cause.notApplied()).isTrue());
        })
        .hasMessage("store " + server + root + ": there is no node " + root
            + "/format; check the root in the address, or let \"holdfast run\" create it");
  }

  @Test
  void missingRoot_isNotMade() throws Exception {
    assertMissing("/misspelt/locks");
    assertThat(nodes.checkExists().forPath("/misspelt")).isNull();
  }

  /** The root is another program's: it stays as it is. */
  @Test
  void rootWithoutAFormat_isLeftAlone() throws Exception {
    nodes.create().creatingParentsIfNeeded().forPath("/others/queue");
    assertMissing("/others");
    assertThat(nodes.getChildren().forPath("/others")).containsExactly("queue");
  }

  @Test
  void rootThatIsThere_isLookedAt() throws InterruptedException {
    try (Holdfast holdfast = Clients.connect(server + "/there");
        Hold hold = holdfast.lock("a").acquire();
        Holdfast looking = looking("/there")) {
      assertThat(looking.admin().list("")).extracting(LockInfo::name).containsExactly("a");
      assertThat(hold.release()).isTrue();
    }
  }

  @Test
  void newerFormat_isRefused() throws Exception {
    nodes
        .create()
        .creatingParentsIfNeeded()
        .forPath("/newer/format", "2".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> looking("/newer").close())
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("have format \"2\"");
  }
}
