// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A claim with two nodes: the making of the first had no answer, and a server applied it after a look for it. What the
 * claim is granted by is its second one, which it knows.
 */
@Tag("stores")
@Timeout(120)
class StrayNodeTest {
  private static final String ROOT = "/stray";

  private final CuratorFramework curator = CuratorFrameworkFactory.newClient(
      ZooKeeperUnderTest.server().address(), 40_000, 20_000, new RetryOneTime(100));
  private StoreByHand mine;
  private StoreByHand other;

  @BeforeEach
  void connect() {
    curator.start();
    ZooKeeperSettings settings = ZooKeeperSettings.defaults().withRoot(ROOT);
    mine = new StoreByHand("1", ZooKeeperStore.using(curator, settings));
    other = new StoreByHand("2", ZooKeeperStore.using(curator, settings));
  }

  @AfterEach
  void close() {
    mine.close();
    other.close();
    curator.close();
  }

  private void stray(Claim claim) throws Exception {
    String name = LockNode.nameFor(
        claim.id(), curator.getZookeeperClient().getZooKeeper().getSessionId(), false, -1);
    curator
        .create()
        .creatingParentContainersIfNeeded()
        .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
        .forPath(new ZooKeeperPaths(ROOT).folder(claim.name()) + "/" + name);
  }

  @Test
  void placeIsThatOfTheNodeWhoseTokenIsGiven() throws Exception {
    Claim first = mine.claim("a");
    stray(first);
    Claim between = other.claim("a");
    other.busy(between, Mode.QUEUE);
    mine.busy(first, Mode.QUEUE);
    // the stray one is taken away, so that the next one's turn comes
    Await.until(
        "it is granted",
        () -> Await.value(other.ask(between, Mode.QUEUE)) instanceof Answer.Granted);
    Grant before = other.granted(between);
    assertThat(other.end(between, Duration.ZERO)).isNotNull();
    Await.until(
        "it is granted", () -> Await.value(mine.ask(first, Mode.QUEUE)) instanceof Answer.Granted);
    assertThat(mine.granted(first).revision()).isGreaterThan(before.revision());
  }

  /** One that comes behind the known one, too: it changes nothing, and goes with the end at the latest. */
  @Test
  void strayNodeBehind_changesNothing() throws Exception {
    Claim first = mine.claim("b");
    Grant grant = mine.granted(first);
    stray(first);
    assertThat(mine.keep(first)).isInstanceOf(Kept.Held.class);
    assertThat(mine.granted(first).revision()).isEqualTo(grant.revision());
    mine.end(first, Duration.ZERO);
    assertThat(other.granted(other.claim("b")).revision()).isGreaterThan(grant.revision());
    assertThat(List.copyOf(mine.told)).noneMatch(each -> each.startsWith("lost"));
  }
}
