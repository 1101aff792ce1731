// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.testkit.consul.ConsulCluster;
import io.holdfast.testkit.process.LazyServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code holdfast} on a Consul cluster of three. */
@Tag("all")
class ConsulClusterCommandsTest {
  @RegisterExtension
  static final LazyServer<ConsulCluster> CLUSTER = new LazyServer<>(ConsulCluster::new);

  @RegisterExtension
  final Processes processes = new Processes();

  private final Commands commands = new Commands(
      processes,
      CLUSTER.get().uri() + "?holdfast.session-ttl-min=1s&holdfast.lock-delay=1s",
      lock -> CLUSTER
          .get()
          .leader()
          .call("GET", "/v1/kv/?keys", "")
          .contains("/wanted:" + lock + "\""));

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
        "not healthy");
    CLUSTER.get().startAll();
  }
}
