// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
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

/** The commands that look, with real processes on a SQLite file. */
@Execution(ExecutionMode.CONCURRENT)
class CommandsTest {
  /** In which the characters would come through. */
  private static final Map<String, String> UTF_8 = Map.of("LC_ALL", "C.UTF-8");

  @RegisterExtension
  final Processes processes = new Processes();

  @Test
  void ls_andShow_tellWhoHoldsWhat() {
    makeStore();
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

  /** A store in which nothing was ever locked but this. */
  private void makeStore() {
    assertThat(processes.holdfast("run", "first", "true").exitCode()).isZero();
  }

  /** An address that is misspelt names no file: that is said, and no file is made of it, for there would be no locks in it. */
  @ParameterizedTest
  @ValueSource(strings = {"ls", "ls --json", "show lock", "release --force --yes lock"})
  void fileThatIsNotThere_isNotMade(String line) throws IOException {
    for (String scheme : List.of("sqlite:", "jdbc:sqlite:")) {
      Job job = processes.holdfast(Map.of("HOLDFAST_STORE", scheme + "nofile.db"), line.split(" "));
      assertThat(job.exitCode()).as(job::toString).isEqualTo(69);
      assertThat(job.stdout()).isEmpty();
      assertThat(job.stderr()).isEqualTo("holdfast: " + notOpened(scheme, "no such file") + "\n");
    }
    assertThat(beginningWith("nofile")).isEmpty();
  }

  @Test
  void doctor_fileThatIsNotThere_isAProblemAndIsNotMade() throws IOException {
    Job job = processes.holdfast("doctor", "--store", "sqlite:nofile.db");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(1);
    assertThat(job.stdout())
        .isEqualTo("store sqlite:" + processes.file("nofile.db") + "\nproblem  connection: "
            + notOpened("sqlite:", "no such file") + "\n");
    assertThat(beginningWith("nofile")).isEmpty();
  }

  @Test
  void ls_ofAnEmptyFile_leavesItEmpty() throws IOException {
    processes.touch("nofile.db");
    Job job = processes.holdfast("ls", "--store", "sqlite:nofile.db");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(69);
    assertThat(job.stderr())
        .isEqualTo("holdfast: " + notOpened("sqlite:", "the file is empty") + "\n");
    assertThat(Files.size(processes.file("nofile.db"))).isZero();
    assertThat(beginningWith("nofile")).containsExactly(processes.file("nofile.db"));
  }

  @Test
  void ls_ofADatabaseWithoutTables_leavesItWithout() throws IOException, SQLException {
    Path file = processes.file("nofile.db");
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement()) {
      statement.execute("VACUUM");
    }
    byte[] before = Files.readAllBytes(file);
    assertThat(before).isNotEmpty();
    Job job = processes.holdfast("ls", "--store", "sqlite:nofile.db");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(69);
    assertThat(job.stderr())
        .isEqualTo("holdfast: " + notOpened("sqlite:", "the file is empty") + "\n");
    assertThat(Files.readAllBytes(file)).isEqualTo(before);
    assertThat(beginningWith("nofile")).containsExactly(file);
  }

  private String notOpened(String scheme, String cause) {
    return "store " + scheme + processes.file("nofile.db") + ": " + cause
        + "; check the path, or let \"holdfast run\" create it";
  }

  private List<Path> beginningWith(String name) throws IOException {
    try (Stream<Path> files = Files.list(processes.folder())) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(name))
          .toList();
    }
  }

  /** Where no store is named, there are no locks before the first one: that is no mistake. */
  @Test
  void defaultFileThatIsNotThere_hasNoLocksAndIsNotMade() {
    processes.useDefault();
    Map<String, String> state = Map.of("XDG_STATE_HOME", processes.file("state").toString());
    assertThat(exitedStdout(processes.holdfast(state, "ls"))).isEmpty();
    assertThat(exitedStdout(processes.holdfast(state, "ls", "--json"))).isEqualTo("[]\n");
    Job show = processes.holdfast(state, "show", "lock");
    assertThat(show.exitCode()).as(show::toString).isEqualTo(1);
    assertThat(show.stdout()).isEqualTo("lock        lock\nstate       free\n");
    Job release = processes.holdfast(state, "release", "--force", "--yes", "lock");
    assertThat(release.exitCode()).as(release::toString).isEqualTo(1);
    assertThat(release.stderr()).isEqualTo("holdfast: lock \"lock\" is free\n");
    assertThat(exitedStdout(processes.holdfast(state, "doctor")))
        .isEqualTo("store sqlite:" + processes.file("state/holdfast/locks.db")
            + "\nok       file: does not exist yet: the first \"holdfast run\" creates it\n");
    assertThat(exitedStdout(processes.holdfast(state, "ddl"))).isNotEmpty();
    assertThat(processes.file("state")).doesNotExist();

    Job first = processes.holdfast(state, "run", "--at-least", "1h", "lock", "true");
    assertThat(first.exitCode()).as(first::toString).isZero();
    assertThat(exitedStdout(processes.holdfast(state, "ls"))).startsWith("lock  kept for ");
  }

  /** SQLite has no list of those that wait without --fair: nothing is said of their number. */
  @Test
  void waiters_thatAFileDoesNotList_areUnknown() {
    Job holder =
        processes.holdfast("run", "jobs", "sh", "-c", "echo $$ >child.pid; exec sleep 600");
    processes.pid("child.pid");
    assertThat(exitedStdout(processes.holdfast("show", "jobs")))
        .endsWith("\nwaiting     unknown\n");
    assertThat(exitedStdout(processes.holdfast("show", "--json", "jobs")))
        .endsWith("\"waiters\": null, \"waitersAtLeast\": 0}\n");
    assertThat(exitedStdout(processes.holdfast("ls", "--json")))
        .endsWith("\"waiters\": null, \"waitersAtLeast\": 0}]\n");
    Job free = processes.holdfast("show", "--json", "free");
    assertThat(free.exitCode()).as(free::toString).isEqualTo(1);
    assertThat(free.stdout()).endsWith("\"waiters\": null, \"waitersAtLeast\": 0}\n");
    processes.holdfast("run", "--fair", "jobs", "true");
    Await.until(
        "it waits",
        () ->
            exitedStdout(processes.holdfast("show", "jobs")).endsWith("\nwaiting     at least 1\n"),
        processes::everything);
    assertThat(exitedStdout(processes.holdfast("ls"))).endsWith(", at least 1 waiting\n");
    holder.signal("TERM");
    assertThat(holder.exitCode()).isEqualTo(143);
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
    makeStore();
    Job job = processes.holdfast("release", "--force", "--yes", "lock");
    assertThat(job.exitCode()).isEqualTo(1);
    assertThat(job.stderr()).isEqualTo("holdfast: lock \"lock\" is free\n");
  }

  @Test
  void doctor_goodFile_isHealthy() {
    makeStore();
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
        "ls a redis:me:secret@h | unexpected argument \"redis:...\" ('holdfast ls --help' tells more)",
        "ls --stoer=redis://:secret@h | no option \"--stoer\"; did you mean --store?",
        "ls a b | unexpected argument \"b\" ('holdfast ls --help' tells more)",
        "run | no NAME of a lock; write holdfast run NAME -- COMMAND",
        "run -n | no NAME of a lock; write holdfast run NAME -- COMMAND",
        "run -- true | no NAME of a lock before --; write holdfast run NAME -- COMMAND",
        "run -n -w 0 -- true | no NAME of a lock before --; write holdfast run NAME -- COMMAND",
        "run d1 | no command to run; write holdfast run NAME -- COMMAND",
        "run d1 -- | no command after --; write holdfast run NAME -- COMMAND",
        "run -w | no value after --wait; write --wait D",
        "ls --store |`no value after --store; write --store URI|@FILE`",
        "bench --seconds | no value after --seconds; write --seconds N",
        "show | no NAME of a lock; write holdfast show NAME",
        "release | no NAME of a lock; write holdfast release --force NAME",
        "release --force | no NAME of a lock; write holdfast release --force NAME",
        "release d1 | no --force, which confirms that the holder is not asked; write holdfast release --force NAME",
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
