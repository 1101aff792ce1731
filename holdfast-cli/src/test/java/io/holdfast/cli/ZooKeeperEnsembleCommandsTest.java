// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.testkit.zookeeper.ZooKeeperEnsemble;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code holdfast} on a ZooKeeper ensemble of three. */
class ZooKeeperEnsembleCommandsTest {
  @SuppressWarnings("NullAway.Init")
  private static ZooKeeperEnsemble ensemble;

  @RegisterExtension
  final Processes processes = new Processes();

  private final Commands commands =
      new Commands(processes, "zookeeper://" + ensemble.addresses() + "/jobs/locks");

  @BeforeAll
  static void start() {
    ensemble = ZooKeeperEnsemble.ofThree();
  }

  @AfterAll
  static void stop() {
    ensemble.close();
  }

  @Test
  void jobs_takeTurns() {
    commands.jobsTakeTurns();
  }

  @Test
  void leaderThatDies_isSurvived() {
    commands.leaderThatDiesIsSurvived(
        () -> {
          ensemble.leader().kill();
          ensemble.leader();
        },
        "does not answer");
    ensemble.start();
  }
}
