// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast run} with a stderr that takes nothing: a full pipe that nobody reads. */
@Execution(ExecutionMode.CONCURRENT)
class StuckStderrTest {
  @RegisterExtension
  final Processes processes = new Processes();

  /** Quiet it says only why the command is ended; verbose, the engine's threads say something too. */
  @ParameterizedTest
  @ValueSource(strings = {"-q", "-vv"})
  void run_commandThatDoesNotListen_isGoneBeforeTheNextBegins(String verbosity) {
    List<String> line =
        new ArrayList<>(List.of("bash", "-c", "mkfifo err; exec 3<>err; \"$@\" 2>&3 3<&-", "-"));
    line.addAll(
        processes.holdfastLine(
            List.of(),
            "run",
            verbosity,
            "--at-most",
            "8s",
            "--grace",
            "500ms",
            "lock",
            "sh",
            "-c",
            "trap '' TERM; yes >&2 & echo $! >yes.pid; echo $$ >child.pid; while :; do sleep 0.05; done"));
    Job job = processes.start(Map.of(), line);
    long child = processes.pid("child.pid");
    long yes = processes.pid("yes.pid");
    Await.until("the pipe is full", () -> !Processes.state(yes).equals("R"), processes::everything);
    Job next = processes.holdfast(
        "run", "lock", "sh", "-c", "kill -0 " + child + " 2>/dev/null && echo alive || echo gone");
    assertThat(next.exitCode()).as(next::toString).isZero();
    assertThat(next.stdout()).isEqualTo("gone\n");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(76);
  }
}
