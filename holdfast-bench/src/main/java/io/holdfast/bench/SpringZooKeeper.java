// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import org.apache.curator.framework.CuratorFramework;
import org.springframework.integration.zookeeper.lock.ZookeeperLockRegistry;

/** Spring Integration's registry. */
final class SpringZooKeeper implements Peer {
  private final CuratorFramework curator;
  private final ZookeeperLockRegistry registry;

  SpringZooKeeper(CuratorFramework curator) {
    this.curator = curator;
    registry = new ZookeeperLockRegistry(curator, "/spring");
  }

  @Override
  public Contention.Guard lock(String name) {
    return RedissonPeer.guard(registry.obtain(name));
  }

  @Override
  public void close() {
    registry.destroy();
    curator.close();
  }
}
