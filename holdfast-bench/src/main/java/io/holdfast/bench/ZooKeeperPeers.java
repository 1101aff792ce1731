// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Who is measured on a ZooKeeper server. */
final class ZooKeeperPeers extends Peers {
  static final String CURATOR = "Curator's mutex";
  static final String CURATOR_SEMAPHORE = "Curator's semaphore mutex";
  static final String SPRING = "Spring";

  private static final String SCHEME = "zookeeper://";

  ZooKeeperPeers(String uri) {
    String server = uri.substring(SCHEME.length());
    add(FLOOR, () -> new PlainZooKeeper(connect(server)));
    add(US, () -> new HoldfastPeer(uri));
    add(CURATOR, () -> new CuratorPeer(connect(server), "/mutex", InterProcessMutex::new));
    add(
        CURATOR_SEMAPHORE,
        () -> new CuratorPeer(connect(server), "/semaphore", InterProcessSemaphoreMutex::new));
    add(SPRING, () -> new SpringZooKeeper(connect(server)));
  }

  /** As its documentation begins; a connection for each contender. */
  private static CuratorFramework connect(String server) {
    CuratorFramework curator =
        CuratorFrameworkFactory.newClient(server, new ExponentialBackoffRetry(1000, 3));
    curator.start();
    return curator;
  }
}
