// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.ServerProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code holdfast} with {@code --store redis://}, in processes of its own, on a real server. */
class RedisCommandsTest {
  @RegisterExtension
  static final RedisProcess REDIS = new RedisProcess();

  @RegisterExtension
  final Processes processes = new Processes();

  /** The command with its whole class path: the other tests' program comes without the driver. */
  private Job holdfast(String store, String command, String... arguments) {
    List<String> line = new ArrayList<>(List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Djava.io.tmpdir=" + processes.file("tmp"),
        "-cp",
        System.getProperty("java.class.path"),
        "io.holdfast.cli.Main",
        command,
        "--store",
        store));
    line.addAll(List.of(arguments));
    return processes.start(Map.of(), line);
  }

  private Job onRedis(String command, String... arguments) {
    return holdfast(REDIS.uri(), command, arguments);
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

  @Test
  void run_twoJobs_theSecondWaitsForTheFirst() {
    String work = work();
    Job first = onRedis("run", "jobs", work, "A");
    processes.pid("A.pid");
    Job third = onRedis("run", "-n", "jobs", work, "C");
    assertThat(third.exitCode()).as(third::toString).isEqualTo(75);
    assertThat(third.stderr())
        .startsWith("holdfast: lock \"jobs\" is busy: held by work (host ")
        .contains("pid " + first.pid());
    Job second = onRedis("run", "jobs", work, "B");
    Await.until("B waits", () -> REDIS.waiters("jobs") == 1, processes::everything);
    assertThat(exitedStdout(onRedis("show", "--json", "jobs"))).contains("\"waiters\": 1");
    assertThat(exitedStdout(onRedis("ls", "job")))
        .startsWith("jobs  held by work (host ")
        .contains("pid " + first.pid());
    assertThat(exitedStdout(onRedis("ls", "other"))).isEmpty();
    assertThat(processes.read("log")).doesNotContain("start B");
    processes.touch("go");
    assertThat(first.exitCode()).as(first::toString).isZero();
    assertThat(second.exitCode()).as(second::toString).isZero();
    List<String> log = processes.read("log").lines().toList();
    assertThat(log).hasSize(4);
    assertThat(log.get(1)).isEqualTo("end A");
    assertThat(log.get(3)).isEqualTo("end B");
    assertThat(token(log.get(2))).isGreaterThan(token(log.get(0)));
    assertThat(onRedis("show", "jobs").exitCode()).isEqualTo(1);
  }

  private static long token(String line) {
    return Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
  }

  /** Killed with kill -9: its command is ended, and the lock is free when its lease has ended, not before. */
  @Test
  void kill_ofTheHolder_freesTheLockAfterItsLease() {
    String work = work();
    Job first = onRedis("run", "--lease", "10s", "killed", work, "A");
    long child = processes.pid("A.pid");
    first.signal("KILL");
    Job third = onRedis("run", "-n", "killed", work, "C");
    assertThat(third.exitCode()).as(third::toString).isEqualTo(75);
    Job second = onRedis("run", "killed", work, "B");
    processes.pid("B.pid");
    processes.untilGone(child);
    processes.touch("go");
    assertThat(second.exitCode()).as(second::toString).isZero();
    assertThat(processes.read("log")).doesNotContain("end A").contains("end B");
  }

  @Test
  void release_force_endsTheCommand() {
    Job job = onRedis("run", "--lease", "3s", "taken", work(), "A");
    long child = processes.pid("A.pid");
    Job force = onRedis("release", "--force", "--yes", "taken");
    assertThat(force.exitCode()).as(force::toString).isZero();
    assertThat(force.stderr()).contains("was taken from its holder").contains("pid " + job.pid());
    assertThat(job.exitCode()).as(job::toString).isEqualTo(76);
    assertThat(job.stderr()).contains("lost the lock \"taken\"");
    processes.untilGone(child);
  }

  @Test
  void doctor_tellsWhatTheServerDoes() {
    Job job = onRedis("doctor");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout())
        .startsWith("store " + REDIS.uri())
        .contains("ok       connection: ")
        .contains("ok       version: Redis ")
        .contains("warning  persistence: no append-only file");
  }

  /** A server that is not there: one line, and the code for it; nothing runs. */
  @Test
  void run_withoutAServer_is69() {
    String nobody = "redis://:secret@127.0.0.1:" + ServerProcess.freePort();
    Job job = holdfast(nobody, "run", "-n", "lock", "touch", "ran");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(69);
    assertThat(job.stderr()).contains("holdfast: ").doesNotContain("secret");
    assertThat(processes.file("ran")).doesNotExist();
    Job doctor = holdfast(nobody, "doctor");
    assertThat(doctor.exitCode()).as(doctor::toString).isEqualTo(1);
  }

  private static String exitedStdout(Job job) {
    assertThat(job.exitCode()).as(job::toString).isZero();
    return job.stdout();
  }
}
