// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.ServerProcess;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** {@code holdfast} with {@code --store consul://}, in processes of its own, on a real server. */
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
class ConsulCommandsTest {
  @RegisterExtension
  static final LazyServer<ConsulServer> SERVER = new LazyServer<>(ConsulServer::with);

  @RegisterExtension
  final Processes processes = new Processes();

  /** With sessions as short as a test can wait for. */
  private Commands commands() {
    return new Commands(
        processes,
        SERVER.get().uri() + "?holdfast.session-ttl-min=1s&holdfast.lock-delay=1s",
        lock -> SERVER.get().call("GET", "/v1/kv/?keys", "").contains("/wanted:" + lock + "\""));
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
    assertThat(new Commands(processes, SERVER.get().uri()).healthy())
        .contains("a majority answers")
        .contains("the leader")
        .contains("10 s to 24 h, lock-delay 15 s");
  }

  /** Consul knows no waiters: none is no number that could be told. */
  @Test
  void waitersOfAFreeLock_areUnknown() {
    Job show = commands().holdfast("show", "--json", "free");
    assertThat(show.exitCode()).as(show::toString).isEqualTo(1);
    assertThat(show.stdout()).endsWith("\"waiters\": null, \"waitersAtLeast\": 0}\n");
  }

  @Test
  void run_withoutAServer_is69() {
    new Commands(processes, "consul://:secret@127.0.0.1:" + ServerProcess.freePort())
        .nobodyThere("secret");
  }

  /** The cause and what to do are one line, wherever it is met. */
  @Test
  void noServer_isToldInOneLine() {
    String closed = "127.0.0.1:" + ServerProcess.freePort();
    Commands commands =
        new Commands(processes, "consul://" + closed + "?holdfast.connect-timeout=1m");
    String told = ": Connection refused: " + closed
        + "; start the server, or correct host and port in the address\n";
    for (Job job :
        List.of(commands.holdfast("run", "-n", "lock", "true"), commands.holdfast("ls"))) {
      assertThat(job.exitCode()).as(job::toString).isEqualTo(69);
      assertThat(job.stderr()).hasLineCount(1).startsWith("holdfast: ").endsWith(told);
    }
    Job doctor = commands.holdfast("doctor");
    assertThat(doctor.exitCode()).as(doctor::toString).isEqualTo(1);
    assertThat(doctor.stdout()).contains("problem  connection: store consul://").endsWith(told);
  }
}
