// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import java.io.IOException;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;

/** Clients of our own, as an address says, whose handles a test makes. */
abstract class HandledClients implements ZooKeeperClients, ZookeeperFactory {
  final ZooKeeperAddress address;

  HandledClients(ZooKeeperAddress address) {
    this.address = address;
  }

  @Override
  public boolean isGiven() {
    return false;
  }

  @Override
  public CuratorFramework client(int sessionMillis) {
    return address.builder(sessionMillis).zookeeperFactory(this).build();
  }

  @Override
  public List<ACL> acl() {
    return address.acl();
  }

  @Override
  public String servers() {
    return address.servers();
  }

  @Override
  public ZKClientConfig config() {
    return address.config();
  }

  @Override
  public void close() {
    address.close();
  }

  @Override
  public ZooKeeper newZooKeeper(
      String servers, int sessionTimeout, Watcher watcher, boolean canBeReadOnly)
      throws IOException {
    return newZooKeeper(servers, sessionTimeout, watcher, canBeReadOnly, new ZKClientConfig());
  }

  @Override
  public abstract ZooKeeper newZooKeeper(
      String servers,
      int sessionTimeout,
      Watcher watcher,
      boolean canBeReadOnly,
      ZKClientConfig config)
      throws IOException;
}
