// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast} with {@code --store zookeeper://}, in processes of its own, on a real server. */
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
class ZooKeeperCommandsTest {
  private static final String MISSPELT = "zookeeper://SERVER/misspelt";

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
    assertThat(commands().holdfast("run", "first", "true").exitCode()).isZero();
    assertThat(commands().healthy())
        .contains("ok       connection: ")
        .contains("ok       session: ")
        .contains("warning  access: ");
  }

  @Test
  void waitersOfAFreeLock_areCounted() {
    assertThat(commands().holdfast("run", "first", "true").exitCode()).isZero();
    Job show = commands().holdfast("show", "--json", "free");
    assertThat(show.exitCode()).as(show::toString).isEqualTo(1);
    assertThat(show.stdout()).endsWith("\"waiters\": 0, \"waitersAtLeast\": 0}\n");
  }

  /** A misspelt root is told, as a misspelt path of a file is. */
  @ParameterizedTest
  @ValueSource(strings = {"ls", "show lock", "release --force --yes lock"})
  void rootThatIsNotThere_is69(String line) {
    String[] words = line.split(" ", -1);
    Job job = misspelt().holdfast(words[0], Arrays.copyOfRange(words, 1, words.length));
    assertThat(job.exitCode()).as(job::toString).isEqualTo(69);
    assertThat(job.stdout()).isEmpty();
    assertThat(job.stderr()).isEqualTo("holdfast: " + noRoot() + "\n");
  }

  @Test
  void doctor_rootThatIsNotThere_isAProblem() {
    Job job = misspelt().holdfast("doctor");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(1);
    assertThat(job.stdout()).endsWith("\nproblem  connection: " + noRoot() + "\n");
  }

  private Commands misspelt() {
    return new Commands(processes, MISSPELT.replace("SERVER", SERVER.get().address()));
  }

  private static String noRoot() {
    return "store " + MISSPELT.replace("SERVER", SERVER.get().address())
        + ": there is no node /misspelt/format; check the root in the address, or let \"holdfast run\" create it";
  }

  @Test
  void run_withoutAServer_is69() {
    new Commands(processes, "zookeeper://me:secret@127.0.0.1:" + ServerProcess.freePort())
        .nobodyThere("secret");
  }
}
