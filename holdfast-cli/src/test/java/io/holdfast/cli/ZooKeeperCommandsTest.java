// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** {@code holdfast} with {@code --store zookeeper://}, in processes of its own, on a real server. */
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
class ZooKeeperCommandsTest {
  @RegisterExtension
  static final LazyServer<ZooKeeperServer> SERVER = new LazyServer<>(ZooKeeperServer::alone);

  @RegisterExtension
  final Processes processes = new Processes();

  private Commands commands() {
    return new Commands(processes, "zookeeper://" + SERVER.get().address() + "/jobs/locks");
  }

  @Test
  void jobs_takeTurns() {
    commands().jobsTakeTurns();
  }

  @Test
  void kill_ofTheHolder_freesTheLockAfterItsLease() {
    commands().killFreesTheLockAfterTheLease();
  }

  @Test
  void atLeast_keepsTheLock() {
    commands().atLeastKeepsTheLock();
  }

  @Test
  void doctor_tellsWhatTheServerDoes() {
    assertThat(commands().healthy())
        .contains("ok       connection: ")
        .contains("ok       session: ")
        .contains("warning  access: ");
  }

  @Test
  void run_withoutAServer_is69() {
    new Commands(processes, "zookeeper://me:secret@127.0.0.1:" + ServerProcess.freePort())
        .nobodyThere("secret");
  }
}
