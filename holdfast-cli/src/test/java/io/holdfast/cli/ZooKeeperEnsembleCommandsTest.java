// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.zookeeper.ZooKeeperEnsemble;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code holdfast} on a ZooKeeper ensemble of three. */
@Tag("all")
class ZooKeeperEnsembleCommandsTest {
  @RegisterExtension
  static final LazyServer<ZooKeeperEnsemble> ENSEMBLE =
      new LazyServer<>(ZooKeeperEnsemble::ofThree);

  @RegisterExtension
  final Processes processes = new Processes();

  private final Commands commands =
      new Commands(processes, "zookeeper://" + ENSEMBLE.get().addresses() + "/jobs/locks");

  @Test
  void jobs_takeTurns() {
    commands.jobsTakeTurns();
  }

  @Test
  void leaderThatDies_isSurvived() {
    commands.leaderThatDiesIsSurvived(
        () -> {
          ENSEMBLE.get().leader().kill();
          ENSEMBLE.get().leader();
        },
        "does not answer");
    ENSEMBLE.get().start();
  }
}
