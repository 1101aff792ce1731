// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code holdfast run} refuses: a specific line, nothing run, nothing changed. */
class RunRefusalsTest {
  @RegisterExtension
  final Processes processes = new Processes();

  @Test
  void run_stateFolderCannotBeMade_is73() {
    processes.useDefault();
    processes.touch("state");
    Job job = processes.holdfast(
        Map.of("XDG_STATE_HOME", processes.file("state").toString()), "run", "lock", "true");
    assertThat(job.exitCode()).isEqualTo(73);
    assertThat(job.stderr())
        .startsWith("holdfast: cannot use the state folder ")
        .contains("/state/holdfast (a part of the path is no folder); set XDG_STATE_HOME");
  }

  /** As in a container whose user is not in passwd: two working folders must not be two locks. */
  @Test
  void run_userWithoutAnEntryInPasswd_locksInHome() {
    processes.useDefault();
    Map<String, String> home =
        Map.of("HOME", processes.file("home").toString(), "XDG_STATE_HOME", "");
    Job holder = processes.start(
        home,
        processes.holdfastLine(
            List.of("-Duser.home=?"),
            "run",
            "lock",
            "sh",
            "-c",
            "echo $$ >run.pid; until [ -e go ]; do sleep 0.1; done"));
    processes.pid("run.pid");
    Job second = processes.start(
        home,
        in("tmp", processes.holdfastLine(List.of("-Duser.home=?"), "run", "-n", "lock", "true")));
    assertThat(second.exitCode()).as(second::toString).isEqualTo(75);
    processes.touch("go");
    assertThat(holder.exitCode()).as(holder::toString).isZero();
    assertThat(processes.file("home/.local/state/holdfast/locks.db")).exists();
  }

  @Test
  void run_userWithoutAHome_is73AndSaysWhatToSet() {
    processes.useDefault();
    Job job = processes.start(
        Map.of("HOME", "", "XDG_STATE_HOME", ""),
        processes.holdfastLine(List.of("-Duser.home=?"), "run", "lock", "touch", "ran"));
    assertThat(job.exitCode()).as(job::toString).isEqualTo(73);
    assertThat(job.stderr())
        .startsWith("holdfast: no folder for this user's locks: HOME is not set")
        .contains("set HOME or XDG_STATE_HOME, or choose a store with --store or HOLDFAST_STORE")
        .hasLineCount(1);
    assertThat(processes.file("?")).doesNotExist();
    assertThat(processes.file("ran")).doesNotExist();
  }

  @Test
  void run_emptyVariable_is64() {
    Job job = processes.holdfast(Map.of("HOLDFAST_STORE", ""), "run", "lock", "touch", "ran");
    assertThat(job.exitCode()).isEqualTo(64);
    assertThat(job.stderr()).startsWith("holdfast: HOLDFAST_STORE is empty").hasLineCount(1);
    assertThat(processes.file("ran")).doesNotExist();
  }

  @Test
  void run_storeOfOneProcess_is64() {
    Job job = processes.holdfast("run", "--store", "memory:", "lock", "touch", "ran");
    assertThat(job.exitCode()).isEqualTo(64);
    assertThat(job.stderr())
        .startsWith("holdfast: memory: excludes the threads of one process only")
        .contains("choose another store, for example sqlite:locks.db")
        .hasLineCount(1);
    assertThat(processes.file("ran")).doesNotExist();
  }

  @Test
  void run_temporaryFolderCannotBeUsed_is73AndLeavesNothing() {
    Job job = processes.start(
        Map.of(),
        processes.holdfastLine(
            List.of("-Djava.io.tmpdir=" + processes.file("nowhere")), "run", "lock", "true"));
    assertThat(job.exitCode()).isEqualTo(73);
    assertThat(job.stderr()).contains("set TMPDIR");
  }

  @Test
  void run_corruptFile_isRefusedAndLeftAlone() throws IOException {
    byte[] garbage = "this is no database, but a letter to somebody"
        .repeat(100)
        .getBytes(java.nio.charset.StandardCharsets.UTF_8);
    Files.write(processes.file("test.db"), garbage);
    Job job = processes.holdfast("run", "lock", "true");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(69);
    assertThat(job.stderr()).startsWith("holdfast: ").hasLineCount(1);
    assertThat(Files.readAllBytes(processes.file("test.db"))).isEqualTo(garbage);
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis://me:secret@localhost?x", "nonsense", "sqlite:/nowhere/at/all.db"})
  void run_storeThatMakesNoSense_is64WithoutAPassword(String store) {
    Job job = processes.holdfast("run", "--store", store, "lock", "true");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(64);
    assertThat(job.stderr()).contains("holdfast: ").doesNotContain("secret");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "--lease 50ms | --lease must be between 100 ms and 3660 d on this store, not 50 ms",
        "--store redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3 --lease 60500ms | --lease must be between 200 ms and 1 min on this store, not 1 min 0.5 s",
        "--lease 0 | --lease must be longer than 0",
        "--lease -1 | '-1' is no duration",
        "--wait -1s | '-1s' is no duration",
        "--at-least 1.5h | '1.5h' is no duration",
        "--store sqlite:test.db?holdfast.nope=1 | unknown parameter holdfast.nope; this store knows holdfast.retention",
        "--store sqlite:test.db?holdfast.retain=1h | unknown parameter holdfast.retain; this store knows",
        "--store redis://127.0.0.1:1?holdfast.prefx=a | unknown parameter holdfast.prefx; did you mean holdfast.prefix?",
        "--store redis://127.0.0.1:1?timeout=5&s3cret | a Redis address takes only holdfast.* parameters, but has timeout",
        "--fair --store consul://127.0.0.1:1 | holdfast: store consul://127.0.0.1:1 cannot be fair between processes; leave out --fair",
        "--store sqlite: | write sqlite:PATH",
        "--store redis:me:s3cret@localhost | holdfast: the address does not begin with redis://; write redis://HOST:PORT",
        "--store jdbc:mariadb:me:s3cret@db/app | holdfast: the address does not begin with jdbc:mariadb://; write jdbc:mariadb://HOST:PORT/DATABASE",
        "--store jdbc:mysql:me:s3cret@db/app | holdfast: the address does not begin with jdbc:mysql://; write jdbc:mysql://HOST:PORT/DATABASE",
        "--store jdbc:postgresql:me:s3cret@db/app | holdfast: the address does not begin with jdbc:postgresql://; write jdbc:postgresql://HOST:PORT/DATABASE",
        "--store rediss:localhost | holdfast: the address does not begin with rediss://; write rediss://HOST:PORT",
        "--store redis-cluster:localhost | holdfast: the address does not begin with redis-cluster://; write redis-cluster://HOST:PORT,HOST:PORT",
        "--store redlock:localhost | holdfast: the address does not begin with redlock://; write redlock://HOST1:PORT,HOST2:PORT,HOST3:PORT",
        "--store zookeeper:localhost | holdfast: the address does not begin with zookeeper://; write zookeeper://HOST:PORT,HOST:PORT/ROOT",
        "--store etcds:localhost | holdfast: the address does not begin with etcds://; write etcds://HOST:PORT,HOST:PORT",
        "--store consul:localhost | holdfast: the address does not begin with consul://; write consul://HOST:PORT,HOST:PORT",
        "--wait 5S | '5S' is no duration; write 5s (",
        "--wait 1h30m | '1h30m' is no duration; write for example 30 (seconds), 500ms",
        "--wait 1.5s | '1.5s' is no duration; write for example 30 (seconds), 500ms",
        "--store mysql://h/app | no store serves mysql: here; did you mean jdbc:mysql://?",
        "--store @missing | --store: cannot read missing: no such file",
        "--store @tmp | --store: cannot read tmp: is a folder",
      })
  void run_badOptions_saysWhichAndRunsNothing(String options, String message) {
    List<String> line = new ArrayList<>(List.of("run"));
    line.addAll(List.of(options.split(" ")));
    line.addAll(List.of("lock", "touch", "ran"));
    Job job = processes.holdfast(line.toArray(String[]::new));
    assertThat(job.exitCode()).as(job::toString).isEqualTo(64);
    assertThat(job.stderr()).startsWith("holdfast: ").contains(message).hasLineCount(1);
    assertThat(processes.file("ran")).doesNotExist();
  }

  /** The same line in another working folder. */
  private static List<String> in(String folder, List<String> line) {
    List<String> all = new ArrayList<>(List.of("sh", "-c", "cd \"$0\" && exec \"$@\"", folder));
    all.addAll(line);
    return all;
  }

  @ParameterizedTest
  @ValueSource(strings = {"-n", "--no-wait", "-w", "--wait=5s", "--help"})
  void run_optionAfterName_is64(String option) {
    Job job = processes.holdfast("run", "lock", option, "--", "touch", "ran");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(64);
    assertThat(job.stderr())
        .isEqualTo(
            "holdfast: '" + option + "' is an option of holdfast run: write it before NAME\n");
    assertThat(processes.file("ran")).doesNotExist();
  }

  @Test
  void run_programThatIsCalledLikeAnOption_runs() {
    processes.script("-n", "touch ran");
    String path = processes.folder() + ":" + System.getenv("PATH");
    Job job = processes.holdfast(Map.of("PATH", path), "run", "lock", "-n");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(processes.file("ran")).exists();
  }

  @Test
  void run_anotherWordLikeAnOption_isNotFound() {
    Job job = processes.holdfast("run", "lock", "--nonsense");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(127);
    assertThat(job.stderr()).isEqualTo("holdfast: cannot run '--nonsense': not found in PATH\n");
  }

  @Test
  void run_shellLineAsOneWord_is127AndNamesTheShell() {
    Job name = processes.holdfast("run", "lock", "--", "echo hi");
    assertThat(name.exitCode()).as(name::toString).isEqualTo(127);
    assertThat(name.stderr())
        .isEqualTo("holdfast: cannot run 'echo hi': not found in PATH; for a shell line, write"
            + " sh -c '...'\n");
    Job path = processes.holdfast("run", "lock", "--", "./backup.sh --all");
    assertThat(path.exitCode()).as(path::toString).isEqualTo(127);
    assertThat(path.stderr()).contains("no such file; for a shell line, write sh -c '...'");
  }

  @Test
  void run_lockNamesThatCannotBe_are64() {
    assertThat(processes.holdfast("run", "", "true").exitCode()).isEqualTo(64);
    Job control = processes.holdfast("run", "a\nb", "true");
    assertThat(control.exitCode()).isEqualTo(64);
    assertThat(control.stderr()).hasLineCount(1);
    assertThat(processes.holdfast("run", "x".repeat(513), "true").exitCode()).isEqualTo(64);
  }
}
