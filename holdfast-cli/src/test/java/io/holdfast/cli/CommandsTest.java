// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands that look, with real processes on a SQLite file. */
@Execution(ExecutionMode.CONCURRENT)
class CommandsTest {
  /** In which the characters would come through. */
  private static final Map<String, String> UTF_8 = Map.of("LC_ALL", "C.UTF-8");

  @RegisterExtension
  final Processes processes = new Processes();

  @Test
  void ls_andShow_tellWhoHoldsWhat() {
    assertThat(exitedStdout(processes.holdfast("ls"))).isEmpty();
    Job free = processes.holdfast("show", "jobs/nightly");
    assertThat(free.exitCode()).isEqualTo(1);
    assertThat(free.stdout()).contains("state       free");

    Job job =
        processes.holdfast("run", "jobs/nightly", "sh", "-c", "echo $$ >child.pid; exec sleep 600");
    processes.pid("child.pid");

    Job list = processes.holdfast("ls", "jobs/");
    assertThat(list.exitCode()).isZero();
    assertThat(list.stdout())
        .startsWith("jobs/nightly  held by sh (host ")
        .contains("pid " + job.pid());
    assertThat(exitedStdout(processes.holdfast("ls", "other/"))).isEmpty();
    assertThat(exitedStdout(processes.holdfast("ls", "--json")))
        .startsWith("[{\"name\": \"jobs/nightly\", \"held\": true, \"token\": \"");

    Job show = processes.holdfast("show", "jobs/nightly");
    assertThat(show.exitCode()).isZero();
    assertThat(show.stdout()).contains("holder      holdfast (host ").contains("token       ");
    assertThat(exitedStdout(processes.holdfast("show", "--json", "jobs/nightly")))
        .contains("\"pid\": " + job.pid())
        .contains("\"note\": \"sh\"");
    job.signal("TERM");
    assertThat(job.exitCode()).isEqualTo(143);
  }

  @Test
  void release_withoutATerminalOrYes_is64() {
    Job job = processes.holdfast("release", "--force", "lock");
    assertThat(job.exitCode()).isEqualTo(64);
    assertThat(job.stderr()).contains("no terminal to ask on").contains("--yes");
  }

  @Test
  void release_withoutForce_is64() {
    Job job = processes.holdfast("release", "lock");
    assertThat(job.exitCode()).isEqualTo(64);
    assertThat(job.stderr()).contains("--force");
  }

  @Test
  void release_freeLock_saysSo() {
    Job job = processes.holdfast("release", "--force", "--yes", "lock");
    assertThat(job.exitCode()).isEqualTo(1);
    assertThat(job.stderr()).isEqualTo("holdfast: lock \"lock\" is free\n");
  }

  @Test
  void doctor_goodFile_isHealthy() {
    Job job = processes.holdfast("doctor");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout()).startsWith("store sqlite:").contains("ok       connection: ");
    assertThat(exitedStdout(processes.holdfast("doctor", "--json"))).contains("\"healthy\": true");
  }

  @Test
  void doctor_storeThatCannotBeReached_isAProblem() {
    processes.touch("file");
    Job job = processes.holdfast(
        "doctor", "--store", "sqlite:" + processes.file("file") + "/locks.db", "--json");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(1);
    assertThat(job.stdout()).contains("\"healthy\": false");
  }

  @Test
  void ddl_sqlite_printsItsSchema() {
    Job job = processes.holdfast("ddl");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout()).containsIgnoringCase("create table").endsWith(";\n");
  }

  @Test
  void version_isPrinted() {
    Job job = processes.holdfast("--version");
    assertThat(job.exitCode()).isZero();
    assertThat(job.stdout()).startsWith("holdfast ").contains("Java ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"run", "ls", "show", "release", "doctor", "ddl", "verify", "bench"})
  void help_ofEachCommand_hasAnExample(String command) {
    Job job = processes.holdfast(command, "--help");
    assertThat(job.exitCode()).isZero();
    assertThat(job.stdout())
        .contains("Usage: holdfast " + command)
        .contains("Example")
        .contains("  holdfast " + command);
    assertThat(job.stderr()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "run",
        "run lock",
        "run --nonsense lock true",
        "nonsense",
        "run --wait soon lock true",
        "show"
      })
  void usage_mistakes_are64InOneLine(String line) {
    Job job = processes.holdfast(line.isEmpty() ? new String[0] : line.split(" "));
    assertThat(job.exitCode()).isEqualTo(64);
    assertThat(job.stdout()).isEmpty();
    assertThat(job.stderr()).isNotEmpty();
    if (!line.isEmpty()) {
      assertThat(job.stderr()).startsWith("holdfast: ").hasLineCount(1);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "rnu d1 -- true | no command \"rnu\"; did you mean run?",
        "list | no command \"list\"; did you mean ls?",
        "frobnicate | no command \"frobnicate\"; there are run, ls, show, release, doctor, ddl, verify, bench ('holdfast --help' tells more)",
        "--hlp | no option \"--hlp\"; did you mean --help?",
        "-v ls | \"-v\" is an option of the commands: write it after the command's name, as in holdfast run -v",
        "run --no-wiat d1 -- true | no option \"--no-wiat\"; did you mean --no-wait?",
        "run --atleast 5s d1 -- true | no option \"--atleast\"; did you mean --at-least?",
        "run --wiat=5s d1 -- true | no option \"--wiat\"; did you mean --wait?",
        "run -nz d1 -- true | no option \"-z\" ('holdfast run --help' tells more)",
        "show --jsn | no option \"--jsn\"; did you mean --json?",
        "ls a redis://:secret@h | unexpected argument \"redis://...\" ('holdfast ls --help' tells more)",
        "ls --stoer=redis://:secret@h | no option \"--stoer\"; did you mean --store?",
        "ls a b | unexpected argument \"b\" ('holdfast ls --help' tells more)",
      })
  void usage_slips_sayWhatWasMeant(String line, String message) {
    Job job = processes.holdfast(line.split(" "));
    assertThat(job.exitCode()).as(job::toString).isEqualTo(64);
    assertThat(job.stdout()).isEmpty();
    assertThat(job.stderr()).isEqualTo("holdfast: " + message + "\n");
  }

  /** What another client has written by hand cannot drive the terminal of a person who looks. */
  @Test
  void noteOfAnotherClient_cannotDriveTheTerminal() throws SQLException {
    Job job = processes.holdfast("run", "jobs", "sh", "-c", "echo $$ >child.pid; exec sleep 600");
    processes.pid("child.pid");
    try (Connection file = DriverManager.getConnection("jdbc:sqlite:" + processes.file("test.db"));
        PreparedStatement update = file.prepareStatement("UPDATE holdfast_lock SET note = ?")) {
      update.setString(1, "a\u009b31mb\u202ec");
      assertThat(update.executeUpdate()).isEqualTo(1);
    }

    assertThat(exitedStdout(processes.holdfast(UTF_8, "ls")))
        .startsWith("jobs  held by a 31mb c (host ");
    assertThat(exitedStdout(processes.holdfast(UTF_8, "show", "jobs")))
        .contains("state       held by a 31mb c (host ")
        .contains("): a 31mb c\n");
    assertThat(exitedStdout(processes.holdfast(UTF_8, "ls", "--json")))
        .contains("\"note\": \"a\\u009b31mb\\u202ec\"");
    job.signal("TERM");
    assertThat(job.exitCode()).isEqualTo(143);
  }

  @Test
  void doctor_wordsThatDriveTheTerminal_areTakenOut() throws IOException {
    Files.writeString(processes.file("address"), "memory:a\u009b31mb\u202ec");
    assertThat(exitedStdout(processes.holdfast(UTF_8, "doctor", "--store", "@address")))
        .startsWith("store memory:a 31mb c\n");
    assertThat(exitedStdout(processes.holdfast(UTF_8, "doctor", "--json", "--store", "@address")))
        .startsWith("{\"store\": \"memory:a\\u009b31mb\\u202ec\"");
  }

  @Test
  void prepare_folderThatCannotBeMade_is73() {
    processes.touch("file");
    Job job = processes.holdfast("prepare", "file/folder");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(73);
    assertThat(job.stderr())
        .isEqualTo("holdfast: cannot write file/folder: a part of the path is no folder\n");
  }

  private static String exitedStdout(Job job) {
    assertThat(job.exitCode()).as(job::toString).isZero();
    return job.stdout();
  }
}
