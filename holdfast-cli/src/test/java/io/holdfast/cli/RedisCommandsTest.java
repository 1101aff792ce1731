// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.ServerProcess;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code holdfast} with {@code --store redis...://}, in processes of its own, on real servers. */
class RedisCommandsTest {
  @RegisterExtension
  final Processes processes = new Processes();

  private RedisTopology redis = RedisTopology.SINGLE;

  private Job holdfast(String command, String... arguments) {
    List<String> line = new ArrayList<>(List.of(command, "--store", redis.uri()));
    line.addAll(List.of(arguments));
    return processes.holdfast(line.toArray(String[]::new));
  }

  /** A command that says that it runs, and ends when it may. */
  private String work() {
    return processes.script(
        "work",
        "echo start $1 $HOLDFAST_TOKEN >>log",
        "echo $$ >$1.pid",
        "until [ -e go ]; do sleep 0.05; done",
        "echo end $1 >>log");
  }

  /** Two jobs, who looks at them, and who ends one: all that the commands say and do, wherever the locks are. */
  @ParameterizedTest
  @EnumSource
  void jobs_takeTurns(RedisTopology topology) {
    redis = topology;
    String work = work();
    Job first = holdfast("run", "--lease", "3s", "jobs", work, "A");
    long child = processes.pid("A.pid");
    Job third = holdfast("run", "-n", "jobs", work, "C");
    Job second = holdfast("run", "jobs", work, "B");
    assertThat(third.exitCode()).as(third::toString).isEqualTo(75);
    assertThat(third.stderr())
        .startsWith("holdfast: lock \"jobs\" is busy: held by work (host ")
        .contains("pid " + first.pid());
    // on Redlock's nodes one after the other: not all may know it when the first does
    Await.until(
        "B waits",
        () -> exitedStdout(holdfast("show", "--json", "jobs")).contains("\"waiters\": 1"),
        processes::everything);
    Job list = holdfast("ls", "job");
    assertThat(exitedStdout(list))
        .startsWith("jobs  held by work (host ")
        .contains("pid " + first.pid());
    assertThat(processes.read("log")).doesNotContain("start B");
    Job force = holdfast("release", "--force", "--yes", "jobs");
    assertThat(force.exitCode()).as(force::toString).isZero();
    assertThat(force.stderr()).contains("was taken from its holder").contains("pid " + first.pid());
    assertThat(first.exitCode()).as(first::toString).isEqualTo(76);
    assertThat(first.stderr()).contains("lost the lock \"jobs\"");
    processes.untilGone(child);
    processes.touch("go");
    assertThat(second.exitCode()).as(second::toString).isZero();
    List<String> log = processes.read("log").lines().toList();
    assertThat(log).hasSize(3);
    assertThat(log.get(2)).isEqualTo("end B");
    assertThat(token(log.get(1))).isGreaterThan(token(log.get(0)));
    assertThat(holdfast("show", "jobs").exitCode()).isEqualTo(1);
  }

  private static long token(String line) {
    return Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
  }

  /** Killed with kill -9: its command is ended, and the lock is free when its lease has ended, not before. */
  @ParameterizedTest
  @EnumSource(names = {"SINGLE", "REDLOCK"})
  void kill_ofTheHolder_freesTheLockAfterItsLease(RedisTopology topology) {
    redis = topology;
    String work = work();
    Job first = holdfast("run", "--lease", "4s", "killed", work, "A");
    long child = processes.pid("A.pid");
    Job second = holdfast("run", "killed", work, "B");
    Await.until("B waits", () -> redis.waiters("holdfast:{killed}") == 1, processes::everything);
    first.signal("KILL");
    assertThat(processes.read("log")).doesNotContain("start B");
    processes.pid("B.pid");
    processes.untilGone(child);
    processes.touch("go");
    assertThat(second.exitCode()).as(second::toString).isZero();
    assertThat(processes.read("log")).doesNotContain("end A").contains("end B");
  }

  @ParameterizedTest
  @EnumSource
  void doctor_tellsWhatTheServersDo(RedisTopology topology) {
    redis = topology;
    Job job = holdfast("doctor");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout())
        .startsWith("store " + redis.uri())
        .contains("ok       connection: ")
        .doesNotContain("problem")
        .contains(
            topology == RedisTopology.REDLOCK
                ? "ok       majority: "
                : "no append-only file: a restart forgets locks");
  }

  /** A server that is not there: one line, and the code for it; nothing runs. */
  @Test
  void run_withoutAServer_is69() {
    String nobody = "redis://:secret@127.0.0.1:" + ServerProcess.freePort();
    Job job = processes.holdfast("run", "--store", nobody, "-n", "lock", "touch", "ran");
    Job doctor = processes.holdfast("doctor", "--store", nobody);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(69);
    assertThat(job.stderr()).contains("holdfast: ").doesNotContain("secret");
    assertThat(processes.file("ran")).doesNotExist();
    assertThat(doctor.exitCode()).as(doctor::toString).isEqualTo(1);
  }

  private static String exitedStdout(Job job) {
    assertThat(job.exitCode()).as(job::toString).isZero();
    return job.stdout();
  }
}
