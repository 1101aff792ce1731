// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.measure.Loop;
import io.holdfast.measure.Samples;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;

/** Entering again a lock that the thread has: against Curator's, which only counts, too. */
final class ReentryBench {
  private static final int BATCH = 10_000;

  private ReentryBench() {}

  /** Both stay entered: what counts is entering once more. */
  @SuppressWarnings("LockNotBeforeTry")
  static List<Row> run(Scale scale) throws Exception {
    try (TestingServer server = new TestingServer();
        CuratorFramework curator =
            CuratorFrameworkFactory.newClient(server.getConnectString(), new RetryOneTime(100));
        Holdfast holdfast = Holdfast.connect("memory:")) {
      curator.start();
      InterProcessMutex theirs = new InterProcessMutex(curator, "/order");
      JavaLock ours = holdfast.lock("order:42").asJavaLock();
      theirs.acquire();
      ours.lock();
      List<Samples> rates = Trials.interleave(
          scale,
          () -> Loop.perSecond(scale.trial(), BATCH, () -> enterAgain(ours)),
          () -> Loop.perSecond(scale.trial(), BATCH, () -> enterAgain(theirs)));
      ours.unlock();
      theirs.release();
      return List.of(Row.now(
              "memory",
              Workload.REENTRANT,
              List.of(
                  Figure.of(Peers.US, rates.get(0)),
                  Figure.of(ZooKeeperPeers.CURATOR, rates.get(1))))
          .atLeast(ZooKeeperPeers.CURATOR, 1));
    }
  }

  /** Nothing between the two can fail, because there is nothing. */
  @SuppressWarnings("LockNotBeforeTry")
  private static void enterAgain(JavaLock lock) {
    lock.lock();
    lock.unlock();
  }

  private static void enterAgain(InterProcessMutex mutex) throws Exception {
    mutex.acquire();
    mutex.release();
  }
}
