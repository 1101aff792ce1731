// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

  /**
   * It was told to end, because the lease cannot be renewed: when holdfast dies after that, there is no second grace. The
   * command stops holdfast when it is told, so that only the watcher can kill it, also on a slow machine.
   */
  @Test
  void killedLateInAnOutage_theNextBeginsWhenTheCommandHasEnded() throws SQLException {
    String work = processes.script(
        "work",
        Processes.HOLDFAST_OF_COMMAND,
        "trap '[ -n \"$told\" ] || kill -s STOP \"$holdfast\"; told=yes' TERM",
        "told= late=0",
        "echo $$ >child.pid",
        "while :; do",
        "  echo first >>log",
        "  sleep 0.02",
        "  [ -z \"$told\" ] || late=$((late + 1))",
        "  [ $late != 100 ] || echo >late",
        "done");
    Job first = processes.holdfast("run", "--lease", "12s", "--grace", "6s", "lock", work);
    long child = processes.pid("child.pid");
    try (Connection other =
            DriverManager.getConnection("jdbc:" + processes.store().split("[?]", -1)[0]);
        Statement statement = other.createStatement()) {
      statement.execute("PRAGMA busy_timeout = 60000");
      statement.execute("BEGIN IMMEDIATE");
      Await.until(
          "so much of the grace is over that a second one would outlast the lease",
          () -> processes.file("late").toFile().exists() || !Processes.isAlive(child),
          processes::everything);
      assertThat(processes.file("late"))
          .as("it lives after holdfast was stopped, which has not killed it")
          .exists();
      first.signal("KILL");
      assertThat(first.exitCode()).isEqualTo(137);
    }
    assertSecondCameAfter(second());
  }

  /** The end of the time that is told counts, and not the grace, if it comes first; and the other way round. */
  @ParameterizedTest
  @CsvSource({
    "bash, 36000, 5",
    "bash, 36000, -50",
    "bash, 2, 36000",
    "sh, 36000, 5",
    "sh, 36000, -50",
    "sh, 2, 36000",
  })
  void holdfastGone_theWatcherEndsTheGroupInTime(String shell, int grace, int left)
      throws IOException {
    Job group = processes.start(
        Map.of(),
        List.of(
            "setsid",
            "sh",
            "-c",
            "trap 'echo told >>log' TERM; echo $$ >child.pid; while :; do sleep 0.05; done"));
    long child = processes.pid("child.pid");
    long now = new SharedClock(SharedClock.UPTIME, Ticker.system()).tenths().orElseThrow();
    Files.createDirectory(processes.file("orders"));
    Files.writeString(
        processes.file("said"), "until " + (now + 72_000) + "\nuntil " + (now + left) + "\n");
    Job watcher = processes.start(
        Map.of(),
        List.of(
            shell,
            "-c",
            "exec \"$@\" 4>told 6>/dev/null 7</dev/null 8<said 9</dev/null",
            shell,
            shell,
            Processes.superviseScript().toString(),
            "watch",
            processes.file("orders").toString(),
            Integer.toString(grace),
            Long.toString(child),
            "STOP",
            ""));
    assertThat(watcher.exitCode()).as(watcher::toString).isZero();
    assertThat(group.exitCode()).isEqualTo(137);
    assertThat(processes.read("told")).isEqualTo("watcher " + watcher.pid() + "\ntold\ntold\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void hasTimeUntil_leavesTheTimeOfANap(String shell) {
    assertThat(processes.saidBy(
            shell,
            "look_at_clock() { now=100; }; for end in 99 100 101 102 ''; do"
                + " ! has_time_until \"$end\" || echo \"<$end>\"; done",
            "has_time_until"))
        .isEqualTo("<102>\n<>\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void lookAtClock_isTheOneThatHoldfastReads(String shell) {
    SharedClock clock = new SharedClock(SharedClock.UPTIME, Ticker.system());
    long before = clock.tenths().orElseThrow();
    String said = processes.saidBy(shell, "look_at_clock; echo $now", "look_at_clock");
    assertThat(Long.parseLong(said.strip())).isBetween(before, clock.tenths().orElseThrow());
  }

  /** The time of day has whole seconds for a shell: never earlier than it is, so that the end never comes later. */
  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void lookAtClock_withoutProc_isTheTimeOfDayRoundedUp(String shell) {
    String said = processes.saidBy(
        shell,
        "read() { return 1; }; date() { echo 1700000008; }; look_at_clock; echo $now",
        "look_at_clock");
    assertThat(said).isEqualTo("17000000090\n");
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
    String said = processes.saidBy(
        shell,
        "kill() { echo \"kill: (1) - Operation not permitted\" >&2; return 1; }; "
            + "is_gone -4711 || echo may live; "
            + "unset -f kill; is_gone -" + Integer.MAX_VALUE + " && echo gone",
        "is_gone");
    assertThat(said).isEqualTo("may live\ngone\n");
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
