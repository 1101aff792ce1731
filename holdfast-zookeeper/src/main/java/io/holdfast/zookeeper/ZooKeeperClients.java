// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;

/** Where the connections come from. */
interface ZooKeeperClients {
  /** Whether there is one client for all, which is the application's and stays open. */
  boolean isGiven();

  /** Returns a client, not started unless it was given, whose sessions are to last so long without a sign of life. */
  CuratorFramework client(int sessionMillis);

  /** Who may do what with the nodes that are made. */
  List<ACL> acl();

  /** The servers, each as {@code HOST:PORT}, with commas between. */
  String servers();

  /** How the clients are configured; of one that was given, what system properties say. */
  ZKClientConfig config();

  /** Removes what was made for the connections; they are closed. */
  void close();
}
