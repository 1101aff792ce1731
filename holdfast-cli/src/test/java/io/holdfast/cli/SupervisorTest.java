// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code supervise.sh}, held at one of its lines while something happens: what a busy machine does rarely happens here each
 * time.
 */
@Execution(ExecutionMode.CONCURRENT)
class SupervisorTest {
  /** A command that writes down each SIGTERM, and goes on. */
  private static final String DEAF =
      "trap 'echo told >>log' TERM; echo $$ >child.pid; while :; do sleep 0.05; done";

  @RegisterExtension
  final Processes processes = new Processes();

  /** Ctrl-C goes to everything in the group of holdfast, so to the supervisor too; whatever that is doing. */
  @ParameterizedTest
  @ValueSource(strings = {"child=*", "watch_group*", "exec 5>&-*", ":", "wait *"})
  void ctrlC_whileTheSupervisorIsAt_endsTheCommand(String line) {
    Job job = heldAt(line, "echo $$ >child.pid; exec sleep 600");
    Processes.signal("INT", processes.pid("held.pid"));
    processes.touch("go");
    long child = processes.pid("child.pid");
    job.signal("INT");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(130);
    processes.untilGone(child);
    processes.assertFree("lock");
  }

  /** The command's group does not act on signals before it has begun; what comes earlier is not lost, and nothing is run. */
  @ParameterizedTest
  @ValueSource(strings = {"INT", "TERM", "HUP"})
  void signalled_beforeTheCommandHasBegun_endsItBeforeItRuns(String signal) {
    Job job = heldAt("trap - *", "touch ran; exec sleep 600");
    processes.pid("held.pid");
    job.signal(signal);
    Await.until(
        "the watcher has the signal, and waits with it",
        () -> processes.read("lines").contains("early=\"$early"),
        processes::everything);
    processes.touch("go");
    assertThat(job.exitCode())
        .as(job::toString)
        .isEqualTo(128 + Sig.valueOf(signal).number());
    assertThat(processes.file("ran")).doesNotExist();
    assertThat(processes.read("lines").split("echo go", 2)[0])
        .as("it may go on only when the signal has been sent")
        .contains("pass_on \"$order\"");
    processes.assertFree("lock");
  }

  /** bash loses what it catches on its way into exec, so that its shell for the command must catch none of what we send. */
  @Test
  void shellOfTheCommand_catchesNothing() throws IOException {
    Job job = heldAt("begun=yes", "exit 4");
    processes.pid("held.pid");
    try (Stream<Path> all = Files.walk(processes.file("tmp"))) {
      Path command = all.filter(path -> path.endsWith("command")).findFirst().orElseThrow();
      long shell = Long.parseLong(Files.readString(command).strip());
      String caught = Files.readAllLines(Path.of("/proc/" + shell + "/status")).stream()
          .filter(line -> line.startsWith("SigCgt:"))
          .findFirst()
          .orElseThrow();
      long mask =
          Long.parseUnsignedLong(caught.substring(caught.indexOf(':') + 1).strip(), 16);
      assertThat(List.of(Sig.INT, Sig.TERM, Sig.HUP))
          .noneMatch(signal -> (mask & (1L << (signal.number() - 1))) != 0);
    }
    processes.touch("go");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(4);
  }

  /** Without it nobody would end the command if we died. */
  @Test
  void watcherKilled_beforeTheCommandHasBegun_nothingIsRun() {
    Job job = heldAt("begun=yes", "touch ran");
    Processes.signal("KILL", processes.pid("held.pid"));
    assertThat(job.exitCode()).as(job::toString).isEqualTo(70);
    assertThat(processes.file("ran")).doesNotExist();
    processes.assertFree("lock");
  }

  @Test
  void stopped_andContinuedAndEndedBeforeTheSupervisorLooks_hasTheCommandsStatus() {
    Job job = heldAt("kill -0 *", "echo $$ >child.pid; kill -STOP $$; exit 4");
    long child = processes.pid("child.pid");
    processes.pid("held.pid");
    Processes.signal("CONT", child);
    processes.untilGone(child);
    processes.touch("go");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(4);
  }

  /** Nobody can tell the command's status any more; but the lock stays ours as long as it runs. */
  @Test
  void supervisorKilled_theLockIsHeldUntilTheCommandEnds() {
    Job job = processes.holdfast(
        "run", "lock", "sh", "-c", "echo $$ >child.pid; until [ -e go ]; do sleep 0.05; done");
    long child = processes.pid("child.pid");
    job.process().children().forEach(ProcessHandle::destroyForcibly);
    job.untilStderr("the supervisor of the command was killed");
    assertThat(processes.answered("run", "-n", "lock", "true").exitCode()).isEqualTo(75);
    assertThat(Processes.isAlive(child)).isTrue();
    processes.touch("go");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(137);
    processes.assertFree("lock");
  }

  @Test
  void supervisorKilled_signalsStillReachTheCommand() {
    Job job = processes.holdfast("run", "lock", "sh", "-c", "echo $$ >child.pid; exec sleep 600");
    long child = processes.pid("child.pid");
    job.process().children().forEach(ProcessHandle::destroyForcibly);
    job.untilStderr("the supervisor of the command was killed");
    job.signal("TERM");
    processes.untilGone(child);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(137);
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void watcherKilled_signalsStillReachTheCommand(String shell) {
    Job job = processes.holdfastWith(
        shell,
        "run",
        "lock",
        "sh",
        "-c",
        "trap 'echo 1 >on' CONT; echo $$ >child.pid; while :; do sleep 0.05; done");
    long child = processes.pid("child.pid");
    Processes.signal("KILL", watcher(job));
    job.untilStderr("the watcher of the command was killed");
    job.signal("CONT");
    processes.pid("on");
    job.signal("INT");
    processes.untilGone(child);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(130);
    assertThat(job.stderr().lines()).as("it is said once").hasSize(1);
    processes.assertFree("lock");
    assertNothingIsLeft();
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void watcherKilled_holdLost_theCommandIsKilled(String shell) {
    Job job = processes.holdfastWith(shell, "run", "--lease", "9s", "lock", "sh", "-c", DEAF);
    long child = processes.pid("child.pid");
    Processes.signal("KILL", watcher(job));
    job.untilStderr("the watcher of the command was killed; holdfast now sends signals to the"
        + " command (process " + child + ") itself");
    Job force = processes.holdfast("release", "--force", "--yes", "lock");
    assertThat(force.exitCode()).as(force::toString).isZero();
    assertThat(job.exitCode()).as(job::toString).isEqualTo(Exit.LOST);
    processes.untilGone(child);
  }

  /** A SIGKILL that nothing has passed on is noticed, and repeated without the watcher. */
  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void watcherStopped_theCommandIsKilled(String shell) {
    Job job = processes.holdfastWith(shell, "run", "--grace", "300ms", "lock", "sh", "-c", DEAF);
    long child = processes.pid("child.pid");
    long watcher = watcher(job);
    Processes.signal("STOP", watcher);
    job.signal("TERM");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(137);
    processes.untilGone(child);
    assertThat(job.stderr()).contains("the command has not ended since it was sent SIGKILL");
    assertThat(processes.read("log")).isEmpty();
    processes.untilGone(watcher);
    assertNothingIsLeft();
  }

  /**
   * Continued later, it would signal the number of the group, which another group may have by then. The watcher of a bash is
   * continued by the system, because its parent ends; that of another shell is not.
   */
  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void watcherStopped_theCommandEnds_theWatcherIsKilled(String shell) {
    Job job = processes.holdfastWith(
        shell,
        "run",
        "lock",
        "sh",
        "-c",
        "echo $$ >child.pid; until [ -e go ]; do sleep 0.05; done");
    processes.pid("child.pid");
    long watcher = watcher(job);
    Processes.signal("STOP", watcher);
    processes.touch("go");
    assertThat(job.exitCode()).as(job::toString).isZero();
    processes.untilGone(watcher);
    assertThat(job.stderr()).isEmpty();
    assertNothingIsLeft();
  }

  /** Its number may be another process's once it has ended: what holdfast continues must be the supervisor. */
  @Test
  void watcherKilled_onlyASupervisorThatRunsIsContinued() {
    String shell = processes.script(
        "bash-noted", "[ \"$4\" != pass ] || echo \"$5 <$9>\" >>passed", "exec bash -p \"$@\"");
    Job job = processes.start(
        Map.of(),
        processes.holdfastLine(
            List.of("-Dholdfast.shell=" + shell),
            "run",
            "lock",
            "sh",
            "-c",
            "trap 'echo 1 >on' CONT; echo $$ >child.pid; while :; do sleep 0.05; done"));
    long child = processes.pid("child.pid");
    ProcessHandle supervisor = job.process().children().findFirst().orElseThrow();
    Processes.signal("KILL", watcher(job));
    job.untilStderr("the watcher of the command was killed");
    job.signal("CONT");
    processes.pid("on");
    supervisor.destroyForcibly();
    job.untilStderr("the supervisor of the command was killed");
    job.signal("TERM");
    processes.untilGone(child);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(137);
    assertThat(processes.read("passed")).isEqualTo("CONT <" + supervisor.pid() + ">\nTERM <>\n");
  }

  /** A parent that has ended is no parent any more. */
  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void lookForSupervisor_isTheParentOnly(String shell) {
    String said = processes.saidBy(
        shell,
        "(look_for_supervisor 0; [ \"$supervisor\" = $$ ] && echo parent);"
            + " look_for_supervisor $$; echo \"<$supervisor>\"",
        "look_for_supervisor");
    assertThat(said).isEqualTo("parent\n<>\n");
  }

  /** Its number may be another group's once the command has ended. */
  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void watchGroup_holdfastDiesAfterTheCommand_endsNoGroup(String shell) {
    assertThat(groupsEndedAfter("begun\\n", shell)).isEqualTo("4242\n");
    assertThat(groupsEndedAfter("begun\\nended\\n", shell)).isEmpty();
  }

  private String groupsEndedAfter(String orders, String shell) {
    return processes.saidBy(
        shell,
        "look_for_supervisor() { supervisor=''; }; end_group() { echo \"$2\" >&3; }; mkdir -p d;"
            + " printf '" + orders + "' >orders; exec 3>&1 4>/dev/null 6>/dev/null;"
            + " watch_group d 1 4242 TSTP '' 0 8<orders",
        "watch_group");
  }

  /** A watcher that is stopped reads nothing: what it is told must not fill its pipe, at which we would wait. */
  @Test
  void endBy_notConfirmed_isNotToldAgain() {
    Supervisor supervisor =
        Supervisor.prepare(new Messages(new StuckStream().stderr(), Messages.Level.QUIET));
    try (supervisor) {
      assertTimeoutPreemptively(Await.PATIENCE, () -> {
        for (int i = 0; i < 20_000; i++) {
          supervisor.endBy(100L * i);
        }
      });
    }
  }

  /** The process that runs the same script beside the supervisor, or, without bash, beside the command. */
  private static long watcher(Job job) {
    List<ProcessHandle> supervisor = job.process().children().toList();
    List<Long> others = job.process()
        .descendants()
        .filter(each -> !supervisor.contains(each))
        .filter(each -> each.info().commandLine().orElse("").contains("supervise.sh"))
        .map(ProcessHandle::pid)
        .toList();
    assertThat(others).hasSize(1);
    return others.get(0);
  }

  private void assertNothingIsLeft() {
    try (Stream<Path> left = Files.list(processes.file("tmp"))) {
      assertThat(left.filter(path -> path.getFileName().toString().startsWith("holdfast")))
          .isEmpty();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** A cleaner of temporary folders has been here. What is open stays open, and signals still arrive. */
  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void folderRemoved_signalsStillReachTheCommand(String shell) throws IOException {
    Job job = processes.holdfastWith(
        shell,
        "run",
        "lock",
        "sh",
        "-c",
        "trap 'echo 1 >on' CONT; echo $$ >child.pid; while :; do sleep 0.05; done");
    long child = processes.pid("child.pid");
    try (Stream<Path> all = Files.walk(processes.file("tmp"))) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
    job.signal("CONT");
    processes.pid("on");
    job.signal("TERM");
    processes.untilGone(child);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(143);
  }

  /** {@code holdfast run}, with a bash that writes down what it runs, and waits before it runs one line, the first time. */
  private Job heldAt(String line, String command) {
    String shell = processes.script(
        "bash-held",
        "exec bash -pc '",
        "  set -T",
        "  hold() {",
        "    echo \"$1\" >>lines",
        "    case $1 in",
        "      $HOLD_AT)",
        "        if [ ! -e held.pid ]; then",
        "          echo $BASHPID >held.pid",
        "          until [ -e go ]; do sleep 0.02; done",
        "        fi ;;",
        "    esac",
        "  }",
        "  trap \"hold \\\"\\$BASH_COMMAND\\\"\" DEBUG",
        "  . \"$0\"",
        "' \"$@\"");
    return processes.start(
        Map.of("HOLD_AT", line),
        processes.holdfastLine(
            List.of("-Dholdfast.shell=" + shell), "run", "lock", "sh", "-c", command));
  }
}
