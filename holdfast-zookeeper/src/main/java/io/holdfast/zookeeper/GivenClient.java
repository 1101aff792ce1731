// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;

/** The application's own client. Its ACL provider is asked by requests that go through Curator, which ours do not. */
record GivenClient(CuratorFramework curator, List<ACL> acl) implements ZooKeeperClients {
  @Override
  public boolean isGiven() {
    return true;
  }

  @Override
  public CuratorFramework client(int sessionMillis) {
    return curator;
  }

  @Override
  public String servers() {
    String servers = curator.getZookeeperClient().getCurrentConnectionString();
    return servers == null ? "" : servers;
  }

  @Override
  public ZKClientConfig config() {
    return new ZKClientConfig();
  }

  @Override
  public void close() {
    // nothing was made
  }

  /** What Curator puts before every path of this client. */
  String namespace() {
    String namespace = curator.getNamespace();
    return namespace == null || namespace.isEmpty() ? "" : "/" + namespace;
  }
}
