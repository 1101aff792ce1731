// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
 * {@code holdfast run} on the embedded store, killed: the next command begins when the former command has ended, not before,
 * and not when the lease has, which no test here lives to see.
 */
@Execution(ExecutionMode.CONCURRENT)
class RunKilledTest {
  @RegisterExtension
  final Processes processes = new Processes();

  /** A command with a process of its own, neither of which heeds SIGTERM, and both say all the time that they run. */
  private Job first(String shell) {
    String work = processes.script(
        "work",
        "trap '' TERM",
        "(while :; do echo first >>log; sleep 0.02; done) &",
        "echo $! >grandchild.pid",
        "echo $$ >child.pid",
        "while :; do echo first >>log; sleep 0.02; done");
    Job job = processes.holdfastWith(shell, "run", "--lease", "1h", "--grace", "2s", "lock", work);
    processes.pid("child.pid");
    return job;
  }

  private Job second() {
    return processes.holdfast("run", "lock", "sh", "-c", "echo second >>log; sleep 0.2");
  }

  private void assertSecondCameAfter(Job second) {
    assertThat(second.exitCode()).as(processes::everything).isZero();
    List<String> log = processes.read("log").lines().toList();
    assertThat(log).contains("first").endsWith("second");
    assertNothingIsLeft();
  }

  /** The next client deletes what a dead one left, in the background: it may end before. */
  private void assertNothingIsLeft() {
    Await.until(
        "nothing is left",
        () -> beside().isEmpty()
            || (processes.holdfast("ls").exitCode() == 0 && beside().isEmpty()),
        processes::everything);
  }

  private List<String> beside() {
    try (Stream<Path> all = Files.list(processes.folder())) {
      return all.map(path -> path.getFileName().toString())
          .filter(name -> name.startsWith("test.db."))
          .toList();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static List<ProcessHandle> supervisor(Job job) {
    List<ProcessHandle> children = job.process().children().toList();
    assertThat(children).isNotEmpty();
    return children;
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void killed_theNextBeginsWhenTheCommandHasEnded(String shell) {
    Job first = first(shell);
    Job second = second();
    first.signal("KILL");
    assertSecondCameAfter(second);
  }

  /** The shell that looks after the command is killed too; its watcher is not. */
  @Test
  void killedWithItsSupervisor_theNextBeginsWhenTheCommandHasEnded() {
    Job first = first("bash");
    List<ProcessHandle> supervisor = supervisor(first);
    first.signal("KILL");
    supervisor.forEach(ProcessHandle::destroyForcibly);
    assertSecondCameAfter(second());
  }

  /** No process is left to see when the command ends. */
  @Test
  void killedWithItsSupervisorAndItsWatcher_theLeaseDecides() {
    Job first = first("bash");
    List<ProcessHandle> all = first
        .process()
        .descendants()
        .filter(each -> each.pid() != processes.pid("child.pid"))
        .filter(each -> each.pid() != processes.pid("grandchild.pid"))
        .filter(each -> each.info().command().orElse("").endsWith("sh"))
        .toList();
    // first: the watcher must not see the other's end
    all.forEach(ProcessHandle::destroyForcibly);
    first.signal("KILL");
    assertThat(first.exitCode()).isEqualTo(137);
    assertThat(Processes.isAlive(processes.pid("child.pid"))).isTrue();
    assertThat(processes.answered("run", "-n", "lock", "true").exitCode()).isEqualTo(75);
    Processes.signal("KILL", processes.pid("child.pid"));
    assertThat(processes.answered("run", "-n", "lock", "true").exitCode()).isEqualTo(75);
  }

  @Test
  void stopped_theLockIsKept() {
    Job first = first("bash");
    processes.stopBetweenWrites(first);
    assertThat(processes.answered("run", "-n", "lock", "true").exitCode()).isEqualTo(75);
    first.signal("CONT");
    Job second = second();
    first.signal("KILL");
    assertSecondCameAfter(second);
  }

  /** What the watcher may not signal may live: then it does not say that the command has ended. */
  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void killed_aCommandOfAnotherUserMayLive(String shell) {
    Path script = Path.of("src/main/resources/io/holdfast/cli/supervise.sh").toAbsolutePath();
    assertThat(script).exists();
    String isGone = "kill() { echo \"kill: (1) - Operation not permitted\" >&2; return 1; }; "
        + "eval \"$(sed -n '/^is_gone()/,/^}/p' '" + script
        + "')\"; is_gone -4711 || echo may live; "
        + "unset -f kill; is_gone -" + Integer.MAX_VALUE + " && echo gone";
    Job job = processes.start(Map.of(), List.of(shell, "-c", isGone));
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout()).isEqualTo("may live\ngone\n");
  }

  /** It held nothing, and nothing of it stays. */
  @Test
  void killedWhileItWaits_leavesNothing() {
    Job first = processes.holdfast(
        "run", "lock", "sh", "-c", "echo $$ >child.pid; until [ -e go ]; do sleep 0.05; done");
    processes.pid("child.pid");
    Job waits = processes.holdfast("run", "lock", "true");
    Await.until("it has its file", () -> beside().size() == 3, processes::everything);
    waits.signal("KILL");
    assertThat(waits.exitCode()).isEqualTo(137);
    processes.touch("go");
    assertThat(first.exitCode()).as(first::toString).isZero();
    processes.assertFree("lock");
    assertNothingIsLeft();
  }
}
