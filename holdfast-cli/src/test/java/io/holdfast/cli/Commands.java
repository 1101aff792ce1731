// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** What all commands say and do, wherever the locks are: shown in processes of their own, on a real server. */
final class Commands {
  private final Processes processes;
  private final String uri;
  private final Predicate<String> awaited;

  /** The processes are the test's; the locks are at this address. */
  Commands(Processes processes, String uri) {
    this.processes = processes;
    this.uri = uri;
    this.awaited =
        lock -> exitedStdout(answered("show", "--json", lock)).contains("\"waiters\": 1,");
  }

  /** The same where the store counts no waiters: the test says whether a lock is waited for. */
  Commands(Processes processes, String uri, Predicate<String> awaited) {
    this.processes = processes;
    this.uri = uri;
    this.awaited = awaited;
  }

  Job holdfast(String command, String... arguments) {
    List<String> line = new ArrayList<>(List.of(command, "--store", uri));
    line.addAll(List.of(arguments));
    return processes.holdfast(line.toArray(String[]::new));
  }

  /** The same for a command that asks: a leader that stands still, or is being elected, is asked again. */
  private Job answered(String command, String... arguments) {
    return Processes.answered(() -> holdfast(command, arguments));
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

  /** B need not be known to wait as soon as it runs, or everywhere at once. */
  private void awaitWaiter(String lock) {
    Await.until("B waits", () -> isAwaited(lock), processes::everything);
  }

  /** Servers that elect a leader just now do not answer; who has died before is seen later. */
  private boolean isAwaited(String lock) {
    try {
      return awaited.test(lock);
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  /** Two jobs, who looks at them, and who ends one. */
  void jobsTakeTurns() {
    String work = work();
    Job first = holdfast("run", "--lease", "20s", "jobs", work, "A");
    long child = processes.pid("A.pid");
    Job third = Processes.answered(() -> holdfast("run", "-n", "jobs", work, "C"));
    Job second = holdfast("run", "jobs", work, "B");
    assertThat(third.exitCode()).as(third::toString).isEqualTo(75);
    assertThat(third.stderr())
        .startsWith("holdfast: lock \"jobs\" is busy: held by work (host ")
        .contains("pid " + first.pid());
    awaitWaiter("jobs");
    assertThat(exitedStdout(answered("ls", "job")))
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
    assertThat(answered("show", "jobs").exitCode()).isEqualTo(1);
  }

  private static long token(String line) {
    return Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
  }

  /** Killed with kill -9: its command is ended, and the lock is free when its lease has ended, not before. */
  void killFreesTheLockAfterTheLease() {
    String work = work();
    Job first = holdfast("run", "--lease", "15s", "killed", work, "A");
    long child = processes.pid("A.pid");
    Job second = holdfast("run", "killed", work, "B");
    awaitWaiter("killed");
    first.signal("KILL");
    assertThat(processes.read("log")).doesNotContain("start B");
    processes.pid("B.pid");
    processes.untilGone(child);
    processes.touch("go");
    assertThat(second.exitCode()).as(second::toString).isZero();
    assertThat(processes.read("log")).doesNotContain("end A").contains("end B");
  }

  /** The lock is kept although the command that held it has ended. */
  void atLeastKeepsTheLock() {
    Job first = holdfast("run", "--at-least", "10m", "kept", "true");
    assertThat(first.exitCode()).as(first::toString).isZero();
    Job second = Processes.answered(() -> holdfast("run", "-n", "kept", "touch", "ran"));
    assertThat(second.exitCode()).as(second::toString).isEqualTo(75);
    assertThat(processes.file("ran")).doesNotExist();
    assertThat(holdfast("release", "--force", "--yes", "kept").exitCode()).isZero();
    Job third = holdfast("run", "-w", "1m", "kept", "touch", "ran");
    assertThat(third.exitCode()).as(third::toString).isZero();
    assertThat(processes.file("ran")).exists();
  }

  /**
   * The leader of several servers is killed: the one that runs goes on, the one that waits gets its turn, and doctor
   * names the server that is gone.
   */
  void leaderThatDiesIsSurvived(Runnable killLeader, String... doctorSays) {
    String work = work();
    Job first = holdfast("run", "--lease", "30s", "leader", work, "A");
    processes.pid("A.pid");
    Job second = holdfast("run", "leader", work, "B");
    awaitWaiter("leader");
    killLeader.run();
    Await.until(
        "doctor sees it",
        () -> {
          Job doctor = holdfast("doctor");
          return doctor.exitCode() == 1
              && Stream.of(doctorSays).allMatch(doctor.stdout()::contains);
        },
        processes::everything);
    processes.touch("go");
    assertThat(first.exitCode()).as(first::toString).isZero();
    assertThat(second.exitCode()).as(second::toString).isZero();
    List<String> log = processes.read("log").lines().toList();
    assertThat(log).hasSize(4);
    assertThat(log.get(1)).isEqualTo("end A");
    assertThat(token(log.get(2))).isGreaterThan(token(log.get(0)));
  }

  /** What doctor says where nothing is wrong. */
  String healthy() {
    Job job = holdfast("doctor");
    assertThat(job.stderr()).as(job::toString).isEmpty();
    assertThat(exitedStdout(job)).startsWith("store " + uri).doesNotContain("problem");
    return job.stdout();
  }

  /** A server that is not there: one line, and the code for it; nothing runs, and a password is not shown. */
  void nobodyThere(String password) {
    Job job = holdfast("run", "-n", "lock", "touch", "ran");
    Job doctor = holdfast("doctor");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(69);
    assertThat(job.stderr()).contains("holdfast: ").doesNotContain(password);
    assertThat(job.stderr().lines().filter(line -> !line.startsWith("holdfast: ")))
        .isEmpty();
    assertThat(processes.file("ran")).doesNotExist();
    assertThat(doctor.exitCode()).as(doctor::toString).isEqualTo(1);
  }

  private static String exitedStdout(Job job) {
    assertThat(job.exitCode()).as(job::toString).isZero();
    return job.stdout();
  }
}
