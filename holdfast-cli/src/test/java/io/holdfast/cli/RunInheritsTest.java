// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the command has from whoever started {@code holdfast}, as if that stood not between them. */
@Execution(ExecutionMode.CONCURRENT)
class RunInheritsTest {
  @RegisterExtension
  final Processes processes = new Processes();

  @ParameterizedTest
  @ValueSource(strings = {"<&-", ">&-", "2>&-", "<&- >&- 2>&-"})
  void run_closedStreams_doNoHarm(String closed) {
    Job job = inShell("\"$@\" " + closed, "run", "lock", "sh", "-c", "exit 7");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(7);
    processes.assertFree("lock");
  }

  @Test
  void run_hugeInputAndOutput_passesAllOfIt() {
    Job job = inShell("head -c 30000000 /dev/zero | \"$@\" | wc -c", "run", "lock", "cat");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout().strip()).isEqualTo("30000000");
  }

  @Test
  void run_nobodyReadsTheOutput_theCommandDiesOfIt() {
    Job job = inShell("{ \"$@\"; echo $? >status; } | head -1", "run", "lock", "yes");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout()).isEqualTo("y\n");
    assertThat(processes.read("status")).isEqualTo("141\n");
    processes.assertFree("lock");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void run_openFiles_areNoneOfOurs(String shell) {
    String more =
        "n=3; while [ $n -lt 30 ]; do [ ! -e /proc/$$/fd/$n ] || echo $n; n=$((n+1)); done";
    Job plain = processes.start(Map.of(), List.of("sh", "-c", more));
    Job job = processes.holdfastWith(shell, "run", "lock", "sh", "-c", more);
    assertThat(job.exitCode()).isZero();
    assertThat(plain.exitCode()).isZero();
    assertThat(job.stdout()).isEqualTo(plain.stdout());
  }

  /** The supervisor is deaf to some signals, and an inherited HUP, as of nohup, stays ignored. */
  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void run_ignoredSignals_areTheInheritedOnes(String shell) {
    String ignored = "grep SigIgn /proc/self/status; ";
    List<String> line = new ArrayList<>(
        List.of("sh", "-c", ignored + "\"$@\"; trap '' HUP; " + ignored + "\"$@\"", "-"));
    line.addAll(processes.holdfastLine(
        List.of("-Dholdfast.shell=" + shell),
        "run",
        "lock",
        "grep",
        "SigIgn",
        "/proc/self/status"));
    Job job = processes.start(Map.of(), line);
    assertThat(job.exitCode()).as(job::toString).isZero();
    List<Long> masks = job.stdout()
        .lines()
        // without those that the C library keeps for itself
        .map(mask -> Long.parseUnsignedLong(mask.substring(7).strip(), 16) & 0x7fffffff)
        .toList();
    assertThat(masks).hasSize(4);
    assertThat(masks.get(1)).isEqualTo(masks.get(0));
    assertThat(masks.get(3)).isEqualTo(masks.get(2)).isEqualTo(masks.get(0) | 1);
  }

  @Test
  void run_environment_hasNothingOfTheSupervisor() {
    Job job = processes.start(
        Map.of("SHELLOPTS", "braceexpand", "BASH_ENV", processes.script("env", "echo loaded")),
        processes.holdfastLine(List.of(), "run", "lock", "bash", "-c", "echo $-; echo $SHLVL"));
    assertThat(job.exitCode()).as(job::toString).isZero();
    String flags =
        job.stdout().lines().filter(line -> !line.equals("loaded")).findFirst().orElse("");
    assertThat(flags).doesNotContain("u").doesNotContain("m");
  }

  /** What the supervisor's script calls its own variables, others may call theirs. */
  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void run_variables_keepTheirValues(String shell) {
    Map<String, String> ours = Stream.of(
            "dir", "grace", "owner", "child", "status", "verb", "begun", "early", "order", "looks",
            "tenths", "ended", "stat", "go")
        .collect(Collectors.toMap(name -> name, name -> "of the environment"));
    List<String> line =
        processes.holdfastLine(List.of("-Dholdfast.shell=" + shell), "run", "lock", "env");
    Job job = processes.start(ours, line);
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout().lines())
        .containsAll(
            ours.keySet().stream().map(name -> name + "=of the environment").toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {"ls", "ddl"})
  void stdout_full_isTold(String command) {
    assertThat(processes.holdfast("run", "--at-least", "1h", "lock", "true").exitCode())
        .isZero();
    Job job = inShell("\"$@\" >/dev/full", command);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(73);
    assertThat(job.stderr())
        .isEqualTo("holdfast: cannot write to stdout; what it has is not complete\n");
  }

  @Test
  void run_umask_doesNotOpenTheDefaultFile() {
    processes.useDefault();
    Map<String, String> environment =
        Map.of("XDG_STATE_HOME", processes.file("state").toString());
    List<String> line =
        new ArrayList<>(List.of("sh", "-c", "umask 0; \"$@\" && ls -l state/holdfast", "-"));
    line.addAll(processes.holdfastLine(List.of(), "run", "lock", "sh", "-c", "umask"));
    Job job = processes.start(environment, line);
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout()).contains("0000", "-rw------- ").doesNotContain("rw-r");
  }

  /** {@code holdfast} with these arguments is {@code "$@"} of a shell script. */
  private Job inShell(String script, String... arguments) {
    List<String> line = new ArrayList<>(List.of("bash", "-c", script, "-"));
    line.addAll(processes.holdfastLine(List.of(), arguments));
    return processes.start(Map.of(), line);
  }
}
