// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Holder;
import io.holdfast.Moment;
import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.zookeeper.OwnClaim.Node;
import java.time.Duration;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a claim has seen of its folder speaks for the node that was in it, as long as the folder is the same. */
class OwnClaimTest {
  private static final Moment NOW = new Moment(0, 0);
  private static final long LEASE_NANOS = Duration.ofSeconds(30).toNanos();

  private final Node node = new Node("/locks/a/q-1", 1, 100, 0);
  private final OwnClaim own = new OwnClaim(
      new Claim(
          new ClaimId("1".repeat(32), 1),
          LockKey.of("a"),
          1,
          1,
          Duration.ofSeconds(30),
          false,
          new Holder("test", "here", 1, "main", "")),
      notConnected(),
      NOW);

  private static ZooKeeperSession notConnected() {
    return new ZooKeeperSession(
        CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(1)),
        false,
        "/locks/nothing",
        Ticker.system(),
        new ZooKeeperSession.Listener() {
          @Override
          public void disturbed() {}

          @Override
          public void restored(int sessionMillis) {}

          @Override
          public void ended(ZooKeeperSession session, long sessionId) {}
        });
  }

  private static Stat folder(long pzxid, int cversion) {
    Stat stat = new Stat();
    stat.setPzxid(pzxid);
    stat.setCversion(cversion);
    return stat;
  }

  @BeforeEach
  void hold() {
    own.made(node, NOW);
    own.granted(NOW, LEASE_NANOS);
    own.seen(node, folder(100, 1));
  }

  @Test
  void unchangedFolder_saysThatItHolds() {
    assertTrue(own.isAsSeen(node, folder(100, 1)));
  }

  @Test
  void changedFolder_saysNothing() {
    assertFalse(own.isAsSeen(node, folder(101, 2)));
    assertFalse(own.isAsSeen(node, folder(101, 1)));
    assertFalse(own.isAsSeen(node, folder(100, 2)));
  }

  @Test
  void goneNode_isForgotten() {
    own.gone();
    assertFalse(own.isAsSeen(node, folder(100, 1)));
  }

  /** Neither what was seen of the node before, nor a list with that one which is read only now, speaks for another. */
  @Test
  void anotherNode_isNotVouchedFor() {
    Node fresh = new Node("/locks/a/q-2", 2, 110, 0);
    own.made(fresh, NOW);
    own.granted(NOW, LEASE_NANOS);
    assertFalse(own.isAsSeen(fresh, folder(100, 1)));
    own.seen(node, folder(100, 1));
    assertFalse(own.isAsSeen(fresh, folder(100, 1)));
    own.seen(fresh, folder(109, 2));
    assertFalse(own.isAsSeen(fresh, folder(109, 2)));
    own.seen(fresh, folder(110, 3));
    assertTrue(own.isAsSeen(fresh, folder(110, 3)));
    assertFalse(own.isAsSeen(node, folder(110, 3)));
  }

  @Test
  void notGranted_isForgotten() {
    own.notGranted();
    own.granted(NOW, LEASE_NANOS);
    assertFalse(own.isAsSeen(node, folder(100, 1)));
  }

  /** A list that shows it to wait has seen the folder later. */
  @Test
  void otherList_isForgotten() {
    own.othersWait(true);
    assertFalse(own.isAsSeen(node, folder(100, 1)));
  }

  /** An older list is as good as none: the folder has changed since. */
  @Test
  void olderList_onlyCostsAnother() {
    own.seen(node, folder(120, 3));
    own.seen(node, folder(110, 2));
    assertFalse(own.isAsSeen(node, folder(120, 3)));
  }

  /** A claim that waits has its place while it watches the node ahead; one that was granted by a message has another place. */
  @Test
  void waiting_isVouchedForUntilItIsGranted() {
    own.notGranted();
    own.seen(node, folder(100, 1));
    assertFalse(own.isAsSeen(node, folder(100, 1)));
    Predecessor ahead =
        new Predecessor(own, node, "/locks/a/q-0", true, "/locks/a/q-0", new Ignoring());
    own.watch(ahead);
    assertTrue(own.isAsSeen(node, folder(100, 1)));
    assertTrue(own.grantedBy(ahead, NOW, LEASE_NANOS));
    assertFalse(own.isAsSeen(node, folder(100, 1)));
  }

  private static final class Ignoring implements Predecessor.Woken {
    @Override
    public void changed(Predecessor which) {}

    @Override
    public void deleted(Predecessor which) {}
  }
}
