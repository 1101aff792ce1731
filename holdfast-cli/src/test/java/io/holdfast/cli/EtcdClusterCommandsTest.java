// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.testkit.etcd.EtcdCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code holdfast} on an etcd cluster of three. */
class EtcdClusterCommandsTest {
  @SuppressWarnings("NullAway.Init")
  private static EtcdCluster cluster;

  @RegisterExtension
  final Processes processes = new Processes();

  private final Commands commands = new Commands(processes, cluster.uri());

  @BeforeAll
  static void start() {
    cluster = new EtcdCluster();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @Test
  void jobs_takeTurns() {
    commands.jobsTakeTurns();
  }

  @Test
  void leaderThatDies_isSurvived() {
    commands.leaderThatDiesIsSurvived(
        () -> {
          cluster.leader().kill();
          cluster.leader();
        },
        "does not answer",
        "a majority answers");
    cluster.startAll();
  }
}
