// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.testkit.consul.ConsulCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code holdfast} on a Consul cluster of three. */
class ConsulClusterCommandsTest {
  @SuppressWarnings("NullAway.Init")
  private static ConsulCluster cluster;

  @RegisterExtension
  final Processes processes = new Processes();

  private final Commands commands = new Commands(
      processes,
      cluster.uri() + "?holdfast.session-ttl-min=1s&holdfast.lock-delay=1s",
      lock -> cluster.leader().call("GET", "/v1/kv/?keys", "").contains("/wanted:" + lock + "\""));

  @BeforeAll
  static void start() {
    cluster = new ConsulCluster();
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
        "not healthy");
    cluster.startAll();
  }
}
