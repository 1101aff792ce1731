// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast run} when somebody signals, stops or kills it; without a terminal. */
@Tag("fast")
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
class RunSignalsTest {
  private static final String LOOP = "while :; do sleep 0.05; done";

  @RegisterExtension
  final Processes processes = new Processes();

  @ParameterizedTest
  @CsvSource({
    "sqlite, INT, 130",
    "sqlite, TERM, 143",
    "sqlite, HUP, 129",
    "redis, INT, 130",
    "postgresql, INT, 130",
    "mariadb, INT, 130",
    "mysql, INT, 130"
  })
  void signalled_whileWaiting_withdraws(String store, String signal, int code) {
    processes.use(store);
    Job holder = processes.holdfast("run", "lock", "sh", "-c", "echo $$ >child.pid; " + LOOP);
    long child = processes.pid("child.pid");
    Job waiter = processes.holdfast("run", "-vv", "lock", "touch", "ran");
    Await.until("it waits", () -> isWaiting(waiter), processes::everything);
    waiter.signal(signal);
    assertThat(waiter.exitCode()).as(waiter::toString).isEqualTo(code);
    assertThat(waiter.stderr())
        .contains("interrupted (SIG" + signal + ") while waiting for lock \"lock\"");
    Processes.signal("KILL", child);
    assertThat(holder.exitCode()).isEqualTo(137);
    processes.assertFree("lock");
    assertThat(processes.file("ran")).doesNotExist();
  }

  /** Killed, nobody waits for it; stopped, it asks again when it is continued. */
  @ParameterizedTest
  @CsvSource({"KILL", "STOP"})
  void killedOrStopped_whileWaiting_delaysNobody(String signal) {
    Job holder = processes.holdfast("run", "lock", "sh", "-c", "echo $$ >child.pid; " + LOOP);
    long child = processes.pid("child.pid");
    Job waiter = processes.holdfast("run", "lock", "touch", "ran");
    Await.until("it waits", () -> isWaiting(waiter), processes::everything);
    if (signal.equals("STOP")) {
      processes.stopBetweenWrites(waiter);
    } else {
      waiter.signal(signal);
    }
    Processes.signal("KILL", child);
    assertThat(holder.exitCode()).isEqualTo(137);
    assertThat(processes.holdfast("run", "-w", "20s", "lock", "true").exitCode())
        .isZero();
    assertThat(processes.file("ran")).doesNotExist();
    if (signal.equals("STOP")) {
      waiter.signal("CONT");
    }
    assertThat(waiter.exitCode()).as(waiter::toString).isEqualTo(signal.equals("KILL") ? 137 : 0);
    assertThat(processes.file("ran").toFile().exists()).isEqualTo(signal.equals("STOP"));
  }

  /** Its main thread is parked for the lock. */
  private boolean isWaiting(Job waiter) {
    // The supervisor's pipes are made before the lock is asked for.
    try (java.util.stream.Stream<java.nio.file.Path> found =
        java.nio.file.Files.walk(processes.file("tmp"))) {
      return found.filter(path -> path.endsWith("orders")).count() == 2
          && waiter.process().isAlive();
    } catch (java.io.IOException | java.io.UncheckedIOException e) {
      return false;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "sqlite, bash, INT",
    "sqlite, bash, TERM",
    "sqlite, bash, HUP",
    "sqlite, sh, INT",
    "sqlite, sh, TERM",
    "sqlite, sh, HUP",
    "redis, bash, TERM",
    "postgresql, bash, INT",
    "mariadb, bash, TERM",
    "mysql, bash, INT"
  })
  void signalled_whileTheCommandRuns_isPassedOnToAllOfIt(
      String store, String shell, String signal) {
    processes.use(store);
    String work = processes.script(
        "work",
        "trap : $1",
        // A pipeline, because what is started with & does not listen to SIGINT.
        "sh -c 'trap \"echo grandchild $1 >>log; exit\" $1; echo $$ >grandchild.pid; " + LOOP
            + "' - $1 |",
        "sh -c 'trap \"echo child $1 >>log; exit 9\" $1; echo $$ >child.pid; " + LOOP + "' - $1");
    Job job = processes.holdfastWith(shell, "run", "lock", work, signal);
    long child = processes.pid("child.pid");
    long grandchild = processes.pid("grandchild.pid");
    job.signal(signal);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(9);
    processes.untilGone(child);
    processes.untilGone(grandchild);
    assertThat(processes.read("log").lines())
        .containsExactlyInAnyOrder("child " + signal, "grandchild " + signal);
    processes.assertFree("lock");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void signalled_andTheCommandDoesNotListen_isKilledAfterTheGrace(String shell) {
    Job job = processes.holdfastWith(
        shell,
        "run",
        "--grace",
        "300ms",
        "lock",
        "sh",
        "-c",
        "trap '' TERM; echo $$ >child.pid; " + LOOP);
    long child = processes.pid("child.pid");
    job.signal("TERM");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(137);
    processes.untilGone(child);
    processes.assertFree("lock");
  }

  @Test
  void signalled_andTheCommandDiesOfIt_diesOfItToo() {
    String script = processes.script("script", "\"$@\"", "echo after >>log");
    java.util.List<String> line = new java.util.ArrayList<>(java.util.List.of("bash", script));
    line.addAll(processes.holdfastLine(
        java.util.List.of(), "run", "lock", "sh", "-c", "echo $$ >child.pid; exec sleep 600"));
    Job job = processes.start(java.util.Map.of(), line);
    processes.pid("child.pid");
    long holdfast = job.process().children().findFirst().orElseThrow().pid();
    // As Ctrl-C does: to everything in the group but the command, which has its own.
    job.signal("INT");
    Processes.signal("INT", holdfast);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(130);
    assertThat(processes.read("log")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "sqlite, bash",
    "sqlite, sh",
    "redis, bash",
    "postgresql, bash",
    "mariadb, bash",
    "mysql, bash"
  })
  void killed_theCommandAndAllOfItEndToo(String store, String shell) {
    processes.use(store);
    String work = processes.script(
        "work",
        "sh -c 'trap \"\" TERM; echo $$ >grandchild.pid; " + LOOP + "' &",
        "trap 'echo told >>log' TERM",
        "echo $$ >child.pid",
        LOOP);
    Job job = processes.holdfastWith(shell, "run", "--lease", "9s", "--grace", "4s", "lock", work);
    long child = processes.pid("child.pid");
    long grandchild = processes.pid("grandchild.pid");
    job.signal("KILL");
    assertThat(job.exitCode()).isEqualTo(137);
    processes.untilGone(child);
    processes.untilGone(grandchild);
    assertThat(processes.read("log")).contains("told");
    assertThat(processes.holdfast("run", "lock", "true").exitCode()).isZero();
  }

  /** A SIGKILL to the whole process group of holdfast, as CI systems send, leaves the watcher: it has its own. */
  @ParameterizedTest
  @ValueSource(strings = {"bash", "sh"})
  void killed_withItsWholeGroup_theCommandEndsToo(String shell) {
    java.util.List<String> line = new java.util.ArrayList<>(java.util.List.of("setsid", "-w"));
    line.addAll(processes.holdfastLine(
        java.util.List.of("-Dholdfast.shell=" + shell),
        "run",
        "--lease",
        "9s",
        "lock",
        "sh",
        "-c",
        "echo $$ >child.pid; " + LOOP));
    Job job = processes.start(java.util.Map.of(), line);
    long child = processes.pid("child.pid");
    long group = group(job);
    Processes.signalGroup("KILL", group);
    processes.untilGone(child);
  }

  /** setsid(1) makes a child if it leads a group already, else it becomes the command. */
  private static long group(Job job) {
    return job.process()
        .children()
        .filter(ProcessHandle::isAlive)
        .filter(child -> child.info().command().orElse("").endsWith("java"))
        .findFirst()
        .map(ProcessHandle::pid)
        .orElse(job.pid());
  }

  @ParameterizedTest
  @CsvSource({
    "sqlite, bash",
    "sqlite, sh",
    "redis, bash",
    "postgresql, bash",
    "mariadb, bash",
    "mysql, bash"
  })
  void stopped_pastTheLease_killsTheCommandWhenItIsContinued(String store, String shell) {
    processes.use(store);
    Job job = processes.holdfastWith(
        shell,
        "run",
        "--lease",
        "9s",
        "lock",
        "sh",
        "-c",
        "trap '' TERM; echo $$ >child.pid; " + LOOP);
    long child = processes.pid("child.pid");
    job.signal("STOP");
    // Somebody else gets the lock: the lease is over, and the command does not know.
    Job next = processes.holdfast("run", "lock", "true");
    assertThat(next.exitCode()).as(next::toString).isZero();
    assertThat(Processes.isAlive(child)).isTrue();
    job.signal("CONT");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(76);
    processes.untilGone(child);
    assertThat(job.stderr()).contains("lost");
  }
}
