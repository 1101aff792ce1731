// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast run} with real processes on a SQLite file: what it runs, what it waits for, how it ends. */
@Execution(ExecutionMode.CONCURRENT)
class RunTest {
  @RegisterExtension
  final Processes processes = new Processes();

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void run_command_hasItsStatusStreamsAndArguments(String shell) {
    Job job = processes.holdfastWith(
        shell,
        "run",
        "lock",
        "--",
        "sh",
        "-c",
        "cat; printf '<%s>' \"$@\"; echo oops >&2; exit 7",
        "-",
        "a  b",
        "$HOME",
        "*",
        "@test.db",
        "@@",
        "");
    job.type("typed\n");
    close(job);
    assertThat(job.exitCode()).isEqualTo(7);
    assertThat(job.stdout()).isEqualTo("typed\n<a  b><$HOME><*><@test.db><@@><>");
    assertThat(job.stderr()).isEqualTo("oops\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void run_commandEndedByASignal_is128AndTheNumber(String shell) {
    Job job = processes.holdfastWith(shell, "run", "lock", "sh", "-c", "kill -9 $$");
    assertThat(job.exitCode()).isEqualTo(137);
    assertThat(job.stderr()).isEmpty();
  }

  @Test
  void run_twoJobs_theSecondWaitsForTheFirst() {
    String work = processes.script(
        "work", "echo start $1 >>log", "until [ -e go ]; do sleep 0.05; done", "echo end $1 >>log");
    Job first = processes.holdfast("run", "lock", work, "A");
    Await.until("A runs", () -> processes.read("log").equals("start A\n"), processes::everything);
    Job second = processes.holdfast("run", "-v", "lock", work, "B");
    Job third = processes.answered("run", "--no-wait", "lock", work, "C");
    assertThat(third.exitCode()).isEqualTo(75);
    assertThat(third.stderr())
        .startsWith("holdfast: lock \"lock\" is busy: held by work (host ")
        .contains("pid " + first.pid());
    processes.touch("go");
    assertThat(first.exitCode()).isZero();
    assertThat(second.exitCode()).isZero();
    assertThat(processes.read("log")).isEqualTo("start A\nend A\nstart B\nend B\n");
  }

  @Test
  void run_busy_hasTheCodesThatWereAskedFor() {
    holding();
    assertThat(processes.answered("run", "-w", "300ms", "lock", "true").exitCode())
        .isEqualTo(75);
    Job custom = processes.answered("run", "-n", "-E", "3", "lock", "true");
    assertThat(custom.exitCode()).isEqualTo(3);
    assertThat(custom.stderr()).contains("is busy");
    Job quiet = processes.answered("run", "-n", "-E", "0", "lock", "touch", "ran");
    assertThat(quiet.exitCode()).isZero();
    assertThat(quiet.stderr()).isEmpty();
    assertThat(processes.file("ran")).doesNotExist();
  }

  /** Before the lock is asked for: it is held by somebody else, and yet we do not wait. */
  @Test
  void run_commandThatCannotRun_isToldAtOnce() {
    holding();
    Job missing = processes.holdfast("run", "lock", "--", "./missing");
    assertThat(missing.exitCode()).isEqualTo(127);
    assertThat(missing.stderr()).isEqualTo("holdfast: cannot run './missing': no such file\n");
    processes.touch("plain");
    Job plain = processes.holdfast("run", "lock", "--", "./plain");
    assertThat(plain.exitCode()).isEqualTo(126);
    assertThat(plain.stderr()).contains("permission denied");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void run_environment_oursWinsOverInherited(String shell) {
    Job outer = processes.holdfastWith(
        shell,
        nested(
            shell,
            "run",
            "outer",
            "sh",
            "-c",
            "echo $HOLDFAST_LOCK $HOLDFAST_TOKEN; exec \"$@\"",
            "-"));
    assertThat(outer.exitCode()).as(outer::toString).isZero();
    String[] lines = outer.stdout().split("\n");
    assertThat(lines).hasSize(2);
    assertThat(lines[0]).matches("outer [0-9]+");
    assertThat(lines[1]).matches("inner [0-9]+");
    assertThat(lines[1].substring(6)).isNotEqualTo(lines[0].substring(6));
  }

  private String[] nested(String shell, String... before) {
    java.util.List<String> line = new java.util.ArrayList<>(java.util.List.of(before));
    line.addAll(processes.holdfastLine(
        java.util.List.of("-Dholdfast.shell=" + shell),
        "run",
        "inner",
        "sh",
        "-c",
        "echo $HOLDFAST_LOCK $HOLDFAST_TOKEN"));
    return line.toArray(String[]::new);
  }

  @Test
  void run_tokens_grow() {
    long last = 0;
    for (int i = 0; i < 3; i++) {
      Job job = processes.holdfast("run", "lock", "sh", "-c", "echo $HOLDFAST_TOKEN");
      assertThat(job.exitCode()).as(job::toString).isZero();
      long token = Long.parseLong(job.stdout().strip());
      assertThat(token).isGreaterThan(last);
      last = token;
    }
  }

  @Test
  void run_atLeast_keepsTheLockAfterASuccessOnlyAndUntilForced() {
    assertThat(processes.holdfast("run", "--at-least", "1h", "lock", "false").exitCode())
        .isEqualTo(1);
    processes.assertFree("--at-least", "1h", "lock");
    Job refused = processes.answered("run", "-n", "lock", "true");
    assertThat(refused.exitCode()).isEqualTo(75);
    assertThat(refused.stderr()).contains("kept for another ");
    Job force = processes.holdfast("release", "--force", "--yes", "lock");
    assertThat(force.exitCode()).as(force::toString).isZero();
    // nobody holds it: there is nobody to warn of
    assertThat(force.stderr()).contains("was freed: it was kept for").doesNotContain("renewal");
    processes.assertFree("lock");
  }

  /** A log, or cron's mail, says what a run has waited for. */
  @Test
  void run_waitsWithoutATerminal_saysOnceForWhat() {
    Job holder = processes.holdfast(
        "run", "lock", "sh", "-c", "echo $$ >holder.pid; until [ -e go ]; do sleep 0.1; done");
    processes.pid("holder.pid");
    Job silent = processes.holdfast("run", "-w", "1h", "-E", "0", "lock", "true");
    Job quiet = processes.holdfast("run", "-q", "lock", "true");
    Job waiter = processes.holdfast("run", "lock", "true");
    waiter.untilStderr("\n");
    processes.touch("go");
    assertThat(holder.exitCode()).isZero();
    assertThat(waiter.exitCode()).isZero();
    assertThat(waiter.stderr())
        .startsWith("holdfast: waiting for \"lock\": held by sh (host ")
        .hasLineCount(1);
    assertThat(silent.exitCode()).isZero();
    assertThat(silent.stderr()).as("as a crontab has it").isEmpty();
    assertThat(quiet.exitCode()).isZero();
    assertThat(quiet.stderr()).isEmpty();
  }

  @Test
  void run_verbose_saysEachStep() {
    Job job = processes.holdfast("run", "-v", "lock", "sh", "-c", "exit 3");
    assertThat(job.exitCode()).isEqualTo(3);
    assertThat(job.stderr().lines())
        .satisfiesExactly(
            line -> assertThat(line).startsWith("holdfast: acquiring lock \"lock\" in SQLite file"),
            line -> assertThat(line)
                .matches("holdfast: acquired lock \"lock\" after [0-9.]+ m?s, token [0-9]+"),
            line ->
                assertThat(line).matches("holdfast: the command ended with 3 after [0-9.]+ m?s"),
            line -> assertThat(line).isEqualTo("holdfast: released lock \"lock\""));
    Job kept = processes.holdfast("run", "-v", "--at-least", "1h", "kept", "true");
    assertThat(kept.exitCode()).isZero();
    assertThat(kept.stderr())
        .endsWith(
            "holdfast: released lock \"kept\"; it stays taken until 1 h after it was acquired\n");
  }

  @Test
  void run_atMost_endsTheCommand() {
    Job job = processes.holdfast(
        "run",
        "--at-most",
        "10s",
        "--grace",
        "4s",
        "lock",
        "sh",
        "-c",
        "trap 'echo told; exit 0' TERM; while :; do sleep 0.05; done");
    assertThat(job.exitCode()).isEqualTo(76);
    assertThat(job.stdout()).isEqualTo("told\n");
    assertThat(job.stderr())
        .contains("holdfast: --at-most 10 s of the lock \"lock\" ends in ")
        .contains("told to end");
  }

  /** One that does not listen is gone before its lock passes on: the second kill instant. */
  @Test
  void run_commandThatDoesNotListen_isGoneBeforeTheNextBegins() {
    Job job = processes.holdfast(
        "run",
        "--at-most",
        "8s",
        "--grace",
        "500ms",
        "lock",
        "sh",
        "-c",
        "trap '' TERM; echo $$ >child.pid; while :; do sleep 0.05; done");
    long child = processes.pid("child.pid");
    Job next = processes.holdfast(
        "run", "lock", "sh", "-c", "kill -0 " + child + " 2>/dev/null && echo alive || echo gone");
    assertThat(next.exitCode()).as(next::toString).isZero();
    assertThat(next.stdout()).isEqualTo("gone\n");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(76);
  }

  @Test
  void run_forceReleased_killsTheCommand() {
    Job job = processes.holdfast(
        "run",
        "--lease",
        "20s",
        "lock",
        "sh",
        "-c",
        "echo $$ >child.pid; trap '' TERM; while :; do sleep 0.05; done");
    long child = processes.pid("child.pid");
    Job force = processes.holdfast("release", "--force", "--yes", "lock");
    assertThat(force.exitCode()).as(force::toString).isZero();
    assertThat(force.stderr()).contains("was taken from its holder").contains("pid " + job.pid());
    assertThat(job.exitCode()).isEqualTo(76);
    assertThat(job.stderr()).contains("lost the lock \"lock\"");
    processes.untilGone(child);
  }

  @Test
  void run_forceReleasedWithWarn_onlySaysSo() {
    Job job = processes.holdfast(
        "run",
        "--lease",
        "20s",
        "--on-lost",
        "warn",
        "lock",
        "sh",
        "-c",
        "echo $$ >child.pid; until [ -e go ]; do sleep 0.05; done; exit 5");
    processes.pid("child.pid");
    assertThat(processes.holdfast("release", "--force", "--yes", "lock").exitCode())
        .isZero();
    job.untilStderr("the command goes on (--on-lost warn)");
    processes.touch("go");
    assertThat(job.exitCode()).isEqualTo(5);
  }

  /** What the command leaves running is its own business; the lock goes with the command. */
  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void run_commandLeavesSomethingRunning_doesNotWaitForIt(String shell) {
    Job job = processes.holdfastWith(
        shell,
        "run",
        "lock",
        "sh",
        "-c",
        "(echo $(exec sh -c 'echo $PPID') >left.pid; exec sleep 600) >/dev/null 2>&1 & :");
    assertThat(job.exitCode()).isZero();
    long left = processes.pid("left.pid");
    processes.assertFree("lock");
    assertThat(Processes.isAlive(left)).isTrue();
  }

  @Test
  void run_withoutStore_usesAFileOfThisUserOnly() throws IOException {
    processes.useDefault();
    Map<String, String> environment =
        Map.of("XDG_STATE_HOME", processes.file("state").toString());
    Job job = processes.holdfast(environment, "run", "lock", "true");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(Files.getPosixFilePermissions(processes.file("state/holdfast")))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    assertThat(Files.getPosixFilePermissions(processes.file("state/holdfast/locks.db")))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
  }

  @Test
  void run_afterItsEnd_leavesNoFiles() throws IOException {
    assertThat(processes.holdfast("run", "lock", "true").exitCode()).isZero();
    assertThat(processes.holdfast("run", "lock", "./missing").exitCode()).isEqualTo(127);
    try (java.util.stream.Stream<java.nio.file.Path> left = Files.list(processes.file("tmp"))) {
      java.util.List<java.nio.file.Path> folders = left.filter(
              path -> path.getFileName().toString().startsWith("holdfast"))
          .toList();
      folders.forEach(folder ->
          Await.until("removed: " + folder, () -> !Files.exists(folder), processes::everything));
    }
  }

  private Job holding() {
    Job job = processes.holdfast("run", "lock", "sh", "-c", "echo $$ >holding.pid; exec sleep 600");
    processes.pid("holding.pid");
    return job;
  }

  private static void close(Job job) {
    try {
      job.process().getOutputStream().close();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
