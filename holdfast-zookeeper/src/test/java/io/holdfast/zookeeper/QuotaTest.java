// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A quota that is used up: what is held is renewed and released, and nothing new is granted. */
@Timeout(120)
@Tag("stores")
class QuotaTest {
  private static final String ROOT = "/locks";
  private static final LockOptions OPTIONS =
      LockOptions.builder().leaseFor(Duration.ofSeconds(15)).build();

  private final AtomicInteger renewals = new AtomicInteger();

  @Test
  void quotaIsUsedUp_holdIsRenewedAndReleased() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.alone("enforceQuota=true");
        Holdfast client = Holdfast.builder()
            .store("zookeeper://" + server.address() + ROOT)
            .requestTimeout(Clients.REQUEST_TIMEOUT)
            .listener(event -> {
              if (event instanceof LockEvent.Renewed) {
                renewals.incrementAndGet();
              }
            })
            .build()) {
      Hold hold = client.lock("held", OPTIONS).acquire();
      useUp(server);
      assertThatThrownBy(() -> client.lock("fresh", OPTIONS).acquire())
          .isInstanceOfSatisfying(
              StoreUnavailableException.class,
              refused -> assertThat(refused.reason()).isEqualTo(Reason.FULL));
      // four take longer than the lease
      awaitTwoRenewals();
      awaitTwoRenewals();
      assertThat(hold.isValid()).isTrue();
      assertThat(hold.release()).isTrue();
      assertThat(client.admin().inspect("held")).isEmpty();
    }
  }

  private void awaitTwoRenewals() {
    int before = renewals.get();
    Await.until("it is renewed", () -> renewals.get() >= before + 2);
  }

  /** As {@code setquota -N 1} does; there are more nodes already. */
  private static void useUp(ZooKeeperServer server) throws Exception {
    byte[] limits =
        "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=1".getBytes(StandardCharsets.UTF_8);
    try (CuratorFramework operator =
        CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100))) {
      operator.start();
      String quota = "/zookeeper/quota" + ROOT;
      operator.create().creatingParentsIfNeeded().forPath(quota + "/zookeeper_limits", limits);
      operator
          .create()
          .forPath(quota + "/zookeeper_stats", "count=0,bytes=0".getBytes(StandardCharsets.UTF_8));
    }
  }
}
