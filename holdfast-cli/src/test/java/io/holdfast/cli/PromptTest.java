// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The launcher, typed at the prompt of a shell with job control. Commands that are stopped while they may be starting
 * another program are bash's: a shell that starts them by vfork(2) cannot be stopped together with a child that was before
 * its exec, and no shell around it is told of the stop then, ours or any other.
 */
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
class PromptTest {
  private static Path tree = Path.of("set before all tests");

  @RegisterExtension
  final Processes processes = new Processes();

  @BeforeAll
  static void buildTree() throws IOException {
    Pty.require();
    tree = Tree.makeBuilt();
  }

  @AfterAll
  static void removeTree() {
    Program.remove(tree);
  }

  /** The shell gets its prompt back, the lock stays ours, and fg goes on where Ctrl-Z was typed. */
  @ParameterizedTest
  @ValueSource(strings = {"sqlite", "redis"})
  void ctrlZ_atAPrompt_stopsTheCommandAndKeepsTheLock(String store) {
    processes.use(store);
    Job shell = prompt();
    shell.type(
        "'" + tree + "/holdfast' run --lease 20s lock sh -c 'echo $$ >child.pid; cat; exit 6'\n");
    long child = processes.pid("child.pid");
    shell.type("one\n");
    shell.untilStdout("one\r\none\r\n");
    shell.type(Pty.CTRL_Z);
    shell.untilStdout("Stopped");
    Await.until(
        "the command is stopped", () -> Processes.state(child).equals("T"), processes::everything);
    // Longer than a lease it is held, so somebody renews it.
    long end = System.nanoTime() + 21_000_000_000L;
    while (System.nanoTime() < end) {
      Job other = processes.answered("run", "-n", "-E", "3", "lock", "true");
      assertThat(other.exitCode()).as(other::toString).isEqualTo(3);
    }
    assertThat(Processes.state(child)).isEqualTo("T");
    shell.type("echo $((6 * 7))\n");
    shell.untilStdout("42");
    shell.type("fg\n");
    Await.until(
        "the command goes on", () -> !Processes.state(child).equals("T"), processes::everything);
    shell.type("two\n");
    shell.untilStdout("two\r\ntwo\r\n");
    shell.type(Pty.CTRL_D);
    processes.untilGone(child);
    shell.type("echo status=$?\n");
    shell.untilStdout("status=6");
    processes.assertFree("lock");
  }

  /** As when the command asks for the terminal in the instant before it has it: then it is stopped, and nobody typed Ctrl-Z. */
  @Test
  void wantsTheTerminalWhileItGetsIt_goesOn() {
    Job shell = prompt();
    shell.type("'" + tree + "/holdfast' run lock bash -c 'echo $$ >child.pid; cat; exit 6'\n");
    long child = processes.pid("child.pid");
    Await.until(
        "the command has the terminal", () -> Processes.hasTerminal(child), processes::everything);
    Processes.signalGroup("TTIN", child);
    shell.type("one\n");
    shell.untilStdout("one\r\none\r\n");
    shell.type(Pty.CTRL_D);
    processes.untilGone(child);
    shell.type("echo status=$?\n");
    shell.untilStdout("status=6");
  }

  /** Nothing is stopped in the background: the command that is continued there does not have the terminal. */
  @Test
  void ctrlZThenBg_atAPrompt_goesOnInTheBackground() {
    Job shell = prompt();
    shell.type(
        "'" + tree
            + "/holdfast' run lock bash -c 'echo $$ >child.pid; until [ -e go ]; do sleep 0.05; done; echo done >>log'\n");
    long child = processes.pid("child.pid");
    shell.type(Pty.CTRL_Z);
    shell.untilStdout("Stopped");
    Await.until(
        "the command is stopped", () -> Processes.state(child).equals("T"), processes::everything);
    shell.type("bg\n");
    Await.until(
        "the command goes on", () -> !Processes.state(child).equals("T"), processes::everything);
    processes.touch("go");
    Await.until(
        "the command has ended",
        () -> processes.read("log").equals("done\n"),
        processes::everything);
    shell.type("wait; echo status=$?\n");
    shell.untilStdout("status=0");
  }

  /**
   * What Ctrl-Z and fg send may reach the JVM in another order than they were sent in. Here it gets the SIGCONT before the
   * SIGTSTP, while the job runs.
   */
  @Test
  void lateCtrlZ_afterTheJobWasContinued_doesNotStopTheCommand() {
    Job shell = prompt();
    Run run = runByAScript(shell);
    Processes.signalInTurn("CONT", "TSTP", run.holdfast());
    assertIsHeld();
    assertThat(Processes.state(run.child())).isNotEqualTo("T");
    processes.touch("go");
    shell.untilStdout("status=6");
  }

  /** A SIGTSTP that is for holdfast alone stops the command, which keeps the lock, and goes on after a SIGCONT. */
  @Test
  void stopForHoldfastAlone_stopsTheCommandAndKeepsTheLock() {
    Job shell = prompt();
    Run run = runByAScript(shell);
    Processes.signal("TSTP", run.holdfast());
    Await.until(
        "the command is stopped",
        () -> Processes.state(run.child()).equals("T"),
        processes::everything);
    assertIsHeld();
    processes.touch("go");
    Processes.signal("CONT", run.holdfast());
    shell.untilStdout("status=6");
  }

  private record Run(long holdfast, long child) {}

  /** Types a script that runs holdfast, whose command ends with 6 when it may. */
  private Run runByAScript(Job shell) {
    String script = processes.script(
        "script",
        "echo $$ >script.pid",
        "'" + tree
            + "/holdfast' run lock bash -c 'echo $$ >child.pid; until [ -e go ]; do sleep 0.05; done; exit 6'",
        "echo status=$?");
    shell.type(script + "\n");
    long child = processes.pid("child.pid");
    long holdfast = ProcessHandle.of(processes.pid("script.pid"))
        .orElseThrow()
        .children()
        .findFirst()
        .orElseThrow()
        .pid();
    return new Run(holdfast, child);
  }

  private void assertIsHeld() {
    assertThat(processes.answered("run", "-n", "lock", "true").exitCode())
        .as(processes::everything)
        .isEqualTo(75);
  }

  /** Whatever has been started so far is stopped, and goes on with fg as if nothing had been. */
  @ParameterizedTest
  @ValueSource(strings = {"/java", "/mkfifo", "/bash"})
  void ctrlZ_whileStarting_goesOnWithFg(String started) {
    Job shell = prompt();
    shell.type("'" + tree + "/holdfast' run lock sh -c 'echo $$ >child.pid; read x; exit 4'\n");
    Await.until(
        started + " was started, or it is too late to see it",
        () -> processes.file("child.pid").toFile().exists()
            || shell
                .process()
                .descendants()
                .anyMatch(one -> isA(started, one)
                    // not what the prompt has forked, which is a bash too, and deaf to Ctrl-Z, until it is the launcher
                    && (started.equals("/java")
                        || one.parent().filter(parent -> isA("/java", parent)).isPresent())),
        processes::everything);
    shell.type(Pty.CTRL_Z);
    shell.untilStdout("Stopped");
    shell.type("fg\n");
    processes.pid("child.pid");
    shell.type("hello\n");
    shell.untilStdout("hello");
    shell.type("echo status=$?\n");
    shell.untilStdout("status=4");
  }

  private static boolean isA(String command, ProcessHandle process) {
    return process.info().command().orElse("").endsWith(command);
  }

  /** As when Ctrl-Z and fg follow each other faster than we hear of them. */
  @Test
  void stoppedAndContinuedLate_afterFg_goesOn() throws IOException {
    Job shell = prompt();
    shell.type("'" + tree + "/holdfast' run lock sh -c 'echo $$ >child.pid; read x; exit 4'\n");
    long child = processes.pid("child.pid");
    order("TSTP");
    Await.until(
        "the command is stopped", () -> Processes.state(child).equals("T"), processes::everything);
    order("CONT");
    shell.type("hello\n");
    shell.type("echo status=$?\n");
    shell.untilStdout("status=4");
  }

  /** Writes what holdfast writes, to the one supervisor that runs. */
  private void order(String order) throws IOException {
    Path temporary = Path.of(Tree.environment(processes).get("TMPDIR"));
    try (Stream<Path> folders = Files.list(temporary)) {
      Path pipe = folders
          .map(folder -> folder.resolve("orders"))
          .filter(Files::exists)
          .findFirst()
          .orElseThrow();
      Files.writeString(pipe, order + "\n", StandardOpenOption.APPEND);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite", "redis"})
  void ctrlC_atAPrompt_endsTheCommand(String store) {
    processes.use(store);
    ctrlC(prompt(), "sh -c 'echo $$ >child.pid; exec sleep 600'");
    processes.assertFree("lock");
  }

  /** A command that dies of Ctrl-C is the usual end: there is nothing to say. */
  @ParameterizedTest
  @ValueSource(strings = {"bash --norc --noediting -i", "dash -i"})
  void ctrlC_atAPrompt_isNoFailureToTellOf(String shell) {
    Job at = prompt(shell);
    ctrlC(at, "sh -c 'echo $$ >child.pid; exec sleep 600'");
    assertThat(at.stdout()).contains("^C").doesNotContain("supervisor");
  }

  private void ctrlC(Job shell, String command) {
    shell.type("'" + tree + "/holdfast' run lock " + command + "\n");
    long child = processes.pid("child.pid");
    shell.type(Pty.CTRL_C);
    processes.untilGone(child);
    shell.type("echo status=$?\n");
    shell.untilStdout("status=130");
  }

  /** At a prompt, what was typed is a shell in front of the JVM. Who kills it means us. */
  @ParameterizedTest
  @ValueSource(strings = {"TERM", "KILL"})
  void signalled_theShellInFront_endsTheCommand(String signal) {
    Job shell = prompt();
    shell.type(
        "'" + tree
            + "/holdfast' run lock sh -c 'trap \"echo told >>log; exit\" TERM; echo $$ >child.pid; while :; do sleep 0.05; done' &\n");
    shell.type("echo $! >front.pid\n");
    long child = processes.pid("child.pid");
    Processes.signal(signal, processes.pid("front.pid"));
    processes.untilGone(child);
    assertThat(processes.read("log")).isEqualTo("told\n");
    assertThat(processes.holdfast("run", "-w", "10s", "lock", "true").exitCode())
        .isZero();
  }

  private Job prompt() {
    return prompt("bash --norc --noediting -i");
  }

  private Job prompt(String line) {
    Job shell = Pty.start(processes, Tree.environment(processes), List.of(line.split(" ")));
    // in two parts, so that what is typed is not taken for what is shown
    shell.type("PS1='rea''dy> '\n");
    return shell.untilStdout("ready> ");
  }
}
