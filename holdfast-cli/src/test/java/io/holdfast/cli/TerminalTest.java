// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast run} on a terminal, without a shell in front of it; with one: see {@link PromptTest}. */
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
class TerminalTest {
  private static final String LOOP = "while :; do sleep 0.05; done";

  @RegisterExtension
  final Processes processes = new Processes();

  @BeforeEach
  void needsScript() {
    Pty.require();
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void terminal_commandThatReads_getsWhatIsTyped(String shell) {
    Job job = pty(
        shell,
        "run",
        "lock",
        "sh",
        "-c",
        "echo ready; read x; echo got:$x; read y; echo and:$y; exit 5");
    job.untilStdout("ready");
    job.type("hello\n");
    job.untilStdout("got:hello");
    job.type("you\n");
    job.untilStdout("and:you");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(5);
  }

  /** Commands that ask for a password open the terminal by name. */
  @Test
  void terminal_commandThatOpensIt_getsWhatIsTyped() {
    Job job = pty(
        "bash",
        "run",
        "lock",
        "sh",
        "-c",
        "exec </dev/null; echo ready >/dev/tty; read x </dev/tty; echo got:$x");
    job.untilStdout("ready");
    job.type("hello\n");
    job.untilStdout("got:hello");
    assertThat(job.exitCode()).as(job::toString).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void ctrlC_whileTheCommandRuns_isForTheCommand(String shell) {
    Job job = pty(
        shell,
        "run",
        "lock",
        "sh",
        "-c",
        "trap 'echo interrupted; exit 9' INT; echo ready; " + LOOP);
    job.untilStdout("ready");
    job.type(Pty.CTRL_C);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(9);
    assertThat(job.stdout()).contains("interrupted");
    processes.assertFree("lock");
  }

  @Test
  void ctrlC_whileTheCommandHasTheTerminal_isForTheCommand() {
    Job job = pty(
        "bash",
        "run",
        "lock",
        "sh",
        "-c",
        "trap 'echo interrupted; exit 9' INT; read x; echo got:$x; " + LOOP);
    job.type("hello\n");
    job.untilStdout("got:hello");
    job.type(Pty.CTRL_C);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(9);
  }

  /** A script around us ends too, as it does for any command that Ctrl-C ends. */
  @Test
  void ctrlC_inAScript_endsTheScript() {
    List<String> line =
        new ArrayList<>(List.of("bash", processes.script("script", "\"$@\"", "echo after >>log")));
    line.addAll(
        processes.holdfastLine(List.of(), "run", "lock", "sh", "-c", "echo ready; exec sleep 600"));
    Job job = Pty.start(processes, Map.of(), line);
    job.untilStdout("ready");
    job.type(Pty.CTRL_C);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(130);
    assertThat(processes.read("log")).isEmpty();
  }

  @Test
  void waiting_onATerminal_showsWhoHasTheLock() {
    Job holder =
        processes.holdfast("run", "lock", "sh", "-c", "echo $$ >child.pid; exec sleep 600");
    processes.pid("child.pid");
    Job waiter = pty("bash", "run", "lock", "true");
    waiter.untilStdout("holdfast: waiting for \"lock\"");
    waiter.untilStdout("pid " + holder.pid());
    waiter.type(Pty.CTRL_C);
    assertThat(waiter.exitCode()).as(waiter::toString).isEqualTo(130);
    assertThat(waiter.stdout()).contains("interrupted (SIGINT) while waiting");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void terminal_closed_endsTheCommand(String shell) {
    Job job = pty(
        shell,
        "run",
        "lock",
        "sh",
        "-c",
        "trap 'echo hung up >>log; exit' HUP; echo $$ >child.pid; " + LOOP);
    long child = processes.pid("child.pid");
    job.signal("KILL");
    processes.untilGone(child);
    assertThat(processes.read("log")).isEqualTo("hung up\n");
    assertThat(processes.holdfast("run", "-w", "10s", "lock", "true").exitCode())
        .isZero();
  }

  /** Where no shell could continue us (docker run -t, ssh -t), Ctrl-Z must not stop the command for ever. */
  @Test
  void ctrlZ_withoutAShellToContinue_doesNothing() {
    Job job = pty(
        "bash",
        "run",
        "lock",
        "sh",
        "-c",
        "echo $$ >child.pid; read x; echo got:$x; read y; echo and:$y");
    processes.pid("child.pid");
    job.type("hello\n");
    job.untilStdout("got:hello");
    job.type(Pty.CTRL_Z);
    job.type("you\n");
    job.untilStdout("and:you");
    assertThat(job.exitCode()).as(job::toString).isZero();
  }

  @Test
  void defaultFile_onATerminal_isToldOnce() {
    processes.useDefault();
    Map<String, String> environment =
        Map.of("XDG_STATE_HOME", processes.file("state").toString());
    Job first =
        Pty.start(processes, environment, processes.holdfastLine(List.of(), "run", "lock", "true"));
    assertThat(first.exitCode()).as(first::toString).isZero();
    assertThat(first.stdout()).contains("this user on this machine only");
    Job second =
        Pty.start(processes, environment, processes.holdfastLine(List.of(), "run", "lock", "true"));
    assertThat(second.exitCode()).isZero();
    // a slow machine may show that it waited; what was said once is not said again
    assertThat(second.stdout()).doesNotContain("this user on this machine only");
  }

  @Test
  void release_onATerminal_asks() {
    Job holder =
        processes.holdfast("run", "lock", "sh", "-c", "echo $$ >child.pid; exec sleep 600");
    processes.pid("child.pid");
    Job no = pty("bash", "release", "--force", "lock");
    no.untilStdout("Take the lock from it? [y/N]");
    no.type("\n");
    assertThat(no.exitCode()).isEqualTo(1);
    assertThat(no.stdout()).contains("held by sh (host").contains("nothing was done");
    Job yes = pty("bash", "release", "--force", "lock");
    yes.untilStdout("Take the lock from it? [y/N]");
    yes.type("y\n");
    assertThat(yes.exitCode()).isZero();
    assertThat(yes.stdout()).contains("pid " + holder.pid()).contains("was taken from its holder");
  }

  @Test
  void verify_ofAStoreThatOthersUse_asks() {
    Job holder =
        processes.holdfast("run", "lock", "sh", "-c", "echo $$ >child.pid; exec sleep 600");
    processes.pid("child.pid");
    String question =
        "The store has other locks (1 were seen), which will feel the load. Go on? [y/N] ";
    String[] line = {
      "verify", "--clients", "2", "--duration", "1s", "--lease", "500ms", "--faults", "none"
    };
    Job no = pty("bash", line).untilStdout(question);
    no.type("\n");
    assertThat(no.exitCode()).isEqualTo(64);
    assertThat(no.stdout()).contains("nothing was done");
    Job yes = pty("bash", line).untilStdout(question);
    yes.type("Yes\n");
    assertThat(yes.exitCode()).as(yes::toString).isEqualTo(3);
    assertThat(yes.stdout()).contains("INCONCLUSIVE: no faults were injected");
    assertThat(holder.process().isAlive()).isTrue();
  }

  private Job pty(String shell, String... arguments) {
    return Pty.start(
        processes,
        Map.of(),
        processes.holdfastLine(List.of("-Dholdfast.shell=" + shell), arguments));
  }
}
