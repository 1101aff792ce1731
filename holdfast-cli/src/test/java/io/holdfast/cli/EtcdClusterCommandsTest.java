// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.testkit.etcd.EtcdCluster;
import io.holdfast.testkit.process.LazyServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code holdfast} on an etcd cluster of three. */
@Tag("all")
class EtcdClusterCommandsTest {
  @RegisterExtension
  static final LazyServer<EtcdCluster> CLUSTER = new LazyServer<>(EtcdCluster::new);

  @RegisterExtension
  final Processes processes = new Processes();

  private final Commands commands = new Commands(processes, CLUSTER.get().uri());

  @Test
  void jobs_takeTurns() {
    commands.jobsTakeTurns();
  }

  @Test
  void leaderThatDies_isSurvived() {
    commands.leaderThatDiesIsSurvived(
        () -> {
          CLUSTER.get().leader().kill();
          CLUSTER.get().leader();
        },
        "does not answer",
        "a majority answers");
    CLUSTER.get().startAll();
  }
}
