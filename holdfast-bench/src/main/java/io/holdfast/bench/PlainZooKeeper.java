// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import java.nio.charset.StandardCharsets;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.NodeExistsException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** The floor: one request that makes an ephemeral node with a sequence number, and one that deletes it; no lock. */
final class PlainZooKeeper implements Peer {
  private static final byte[] OWNER =
      "0123456789abcdef0123456789abcdef-1".getBytes(StandardCharsets.UTF_8);

  private final CuratorFramework curator;

  PlainZooKeeper(CuratorFramework curator) {
    this.curator = curator;
  }

  @Override
  public Contention.Guard lock(String name) {
    try {
      curator.blockUntilConnected();
      ZooKeeper client = curator.getZookeeperClient().getZooKeeper();
      String folder = "/plain-" + name;
      make(client, folder);
      return inside -> {
        String node = client.create(
            folder + "/q-", OWNER, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
        inside.run();
        client.delete(node, -1);
      };
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static void make(ZooKeeper client, String folder) throws Exception {
    try {
      client.create(folder, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    } catch (NodeExistsException e) {
      // from the last time
    }
  }

  @Override
  public void close() {
    curator.close();
  }
}
