// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.testkit.Clients;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The examples in the documentation of the store on the application's own client. */
@Tag("stores")
class ExamplesTest {
  @Test
  void store() throws InterruptedException {
    try (CuratorFramework curator = CuratorFrameworkFactory.newClient(
        ZooKeeperUnderTest.server().address(), 40_000, 20_000, new RetryOneTime(100))) {
      curator.start();
      Holdfast holdfast = Holdfast.builder()
          .store(ZooKeeperStore.using(curator))
          .requestTimeout(Clients.REQUEST_TIMEOUT)
          .build();
      try (Hold hold = holdfast.lock("example").acquire()) {
        assertThat(hold.isValid()).isTrue();
      }
      holdfast.close();
      ZooKeeperStore store = ZooKeeperStore.using(
          curator, ZooKeeperSettings.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL));
      store.close();
    }
  }
}
