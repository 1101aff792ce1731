// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

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

  private static String ended(Job job) {
    assertThat(job.exitCode()).as(job::toString).isZero();
    return job.stdout();
  }

  /** The one that runs goes on, the one that waits gets its turn, and doctor names the member that is gone. */
  @Test
  void leaderThatDies_isSurvived() {
    String work = processes.script(
        "work",
        "echo $HOLDFAST_TOKEN >>log",
        "echo $$ >$1.pid",
        "until [ -e go ]; do sleep 0.05; done");
    Job first = commands.holdfast("run", "--lease", "60s", "leader", work, "A");
    processes.pid("A.pid");
    Job second = commands.holdfast("run", "leader", work, "B");
    Await.until(
        "B waits",
        () -> ended(commands.holdfast("show", "--json", "leader")).contains("\"waiters\": 1"),
        processes::everything);
    cluster.leader().kill();
    cluster.leader();
    Job doctor = commands.holdfast("doctor");
    assertThat(doctor.exitCode()).as(doctor::toString).isEqualTo(1);
    assertThat(doctor.stdout()).contains("does not answer").contains("a majority answers");
    processes.touch("go");
    assertThat(first.exitCode()).as(first::toString).isZero();
    assertThat(second.exitCode()).as(second::toString).isZero();
    long[] tokens = processes.read("log").lines().mapToLong(Long::parseLong).toArray();
    assertThat(tokens).hasSize(2).isSorted().doesNotHaveDuplicates();
    cluster.startAll();
  }
}
