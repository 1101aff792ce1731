// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.ServerProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code holdfast} with {@code --store redis...://}, in processes of its own, on real servers. */
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
class RedisCommandsTest {
  @RegisterExtension
  final Processes processes = new Processes();

  private Commands commands(RedisTopology redis) {
    return new Commands(processes, redis.uri());
  }

  @ParameterizedTest
  @EnumSource
  void jobs_takeTurns(RedisTopology topology) {
    commands(topology).jobsTakeTurns();
  }

  @ParameterizedTest
  @EnumSource(names = {"SINGLE", "REDLOCK"})
  void kill_ofTheHolder_freesTheLockAfterItsLease(RedisTopology topology) {
    commands(topology).killFreesTheLockAfterTheLease();
  }

  @ParameterizedTest
  @EnumSource
  void doctor_tellsWhatTheServersDo(RedisTopology topology) {
    assertThat(commands(topology).healthy())
        .contains("ok       connection: ")
        .contains(
            topology == RedisTopology.REDLOCK
                ? "ok       majority: "
                : "no append-only file: a restart forgets locks");
  }

  @Test
  void run_withoutAServer_is69() {
    new Commands(processes, "redis://:secret@127.0.0.1:" + ServerProcess.freePort())
        .nobodyThere("secret");
  }
}
