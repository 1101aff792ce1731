// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import java.util.function.BiFunction;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;

/** One of Curator's locks: the mutex, or the one that is a semaphore of one lease. */
final class CuratorPeer implements Peer {
  private final CuratorFramework curator;
  private final String root;
  private final BiFunction<CuratorFramework, String, InterProcessLock> kind;

  CuratorPeer(
      CuratorFramework curator,
      String root,
      BiFunction<CuratorFramework, String, InterProcessLock> kind) {
    this.curator = curator;
    this.root = root;
    this.kind = kind;
  }

  @Override
  public Contention.Guard lock(String name) {
    InterProcessLock lock = kind.apply(curator, root + "/" + name);
    return inside -> {
      lock.acquire();
      try {
        inside.run();
      } finally {
        lock.release();
      }
    };
  }

  @Override
  public Held hold(String name) {
    InterProcessLock lock = kind.apply(curator, root + "/" + name);
    try {
      lock.acquire();
    } catch (Exception e) {
      throw new IllegalStateException(name + " was not acquired", e);
    }
    return lock::isAcquiredInThisProcess;
  }

  @Override
  public void close() {
    curator.close();
  }
}
