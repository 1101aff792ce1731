// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code holdfast} with {@code --store jdbc:...}, in processes of its own, on real servers. */
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
class SqlCommandsTest {
  private static final Pattern PREFIX = Pattern.compile("holdfast\\.prefix=(\\w+)");

  private static final String START = "; start the server, or correct host and port in the address";

  @RegisterExtension
  final Processes processes = new Processes();

  private void use(SqlKind kind) {
    processes.use(kind.name().toLowerCase(Locale.ROOT));
  }

  /** A command that says that it runs, and ends when it may. */
  private String work() {
    return processes.script(
        "work",
        "echo start $1 $HOLDFAST_TOKEN >>log",
        "echo $$ >$1.pid",
        "until [ -e go ]; do sleep 0.05; done",
        "echo end $1 >>log");
  }

  /** How many locks somebody has left word at that he waits for them. */
  private String wanted(SqlKind kind) {
    Matcher prefix = PREFIX.matcher(processes.store());
    assertThat(prefix.find()).isTrue();
    return kind.shared()
        .query("SELECT COUNT(*) FROM " + prefix.group(1) + "lock WHERE wanted_us > 0")
        .get(0);
  }

  /** Two jobs, who looks at them, and who ends one: all that the commands say and do, wherever the locks are. */
  @ParameterizedTest
  @EnumSource
  void jobs_takeTurns(SqlKind kind) {
    use(kind);
    String work = work();
    Job first = processes.holdfast("run", "--lease", "20s", "jobs", work, "A");
    long child = processes.pid("A.pid");
    Job third = processes.answered("run", "-n", "jobs", work, "C");
    Job late = processes.answered("run", "-w", "300ms", "-E", "3", "jobs", work, "D");
    Job second = processes.holdfast("run", "--fair", "jobs", work, "B");
    assertThat(third.exitCode()).as(third::toString).isEqualTo(75);
    assertThat(third.stderr())
        .startsWith("holdfast: lock \"jobs\" is busy: held by work (host ")
        .contains("pid " + first.pid());
    assertThat(late.exitCode()).as(late::toString).isEqualTo(3);
    Await.until("B waits", () -> showsAWaiter("jobs"), processes::everything);
    Job list = processes.holdfast("ls", "job");
    assertThat(exitedStdout(list))
        .startsWith("jobs  held by work (host ")
        .contains("pid " + first.pid());
    assertThat(exitedStdout(processes.holdfast("ls", "other/"))).isEmpty();
    assertThat(processes.read("log")).doesNotContain("start B");
    Job force = processes.holdfast("release", "--force", "--yes", "jobs");
    assertThat(force.exitCode()).as(force::toString).isZero();
    assertThat(force.stderr()).contains("was taken from its holder").contains("pid " + first.pid());
    assertThat(first.exitCode()).as(first::toString).isEqualTo(76);
    assertThat(first.stderr()).contains("lost the lock \"jobs\"");
    processes.untilGone(child);
    processes.touch("go");
    assertThat(second.exitCode()).as(second::toString).isZero();
    List<String> log = processes.read("log").lines().toList();
    assertThat(log).hasSize(3);
    assertThat(log.get(2)).isEqualTo("end B");
    assertThat(token(log.get(1))).isGreaterThan(token(log.get(0)));
    assertThat(processes.holdfast("show", "jobs").exitCode()).isEqualTo(1);
    Job nobody = processes.holdfast("release", "--force", "--yes", "jobs");
    assertThat(nobody.exitCode()).as(nobody::toString).isEqualTo(1);
  }

  private boolean showsAWaiter(String lock) {
    return exitedStdout(processes.holdfast("show", "--json", lock))
        .contains("\"waitersAtLeast\": 1");
  }

  private static long token(String line) {
    return Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
  }

  /** Killed with kill -9: its command is ended, and the lock is free when its lease has ended, not before. */
  @ParameterizedTest
  @EnumSource
  void kill_ofTheHolder_freesTheLockAfterItsLease(SqlKind kind) {
    use(kind);
    String work = work();
    Job first = processes.holdfast("run", "--lease", "15s", "killed", work, "A");
    long child = processes.pid("A.pid");
    Job second = processes.holdfast("run", "killed", work, "B");
    Await.until("B waits", () -> wanted(kind).equals("1"), processes::everything);
    first.signal("KILL");
    assertThat(processes.read("log")).doesNotContain("start B");
    processes.pid("B.pid");
    processes.untilGone(child);
    processes.touch("go");
    assertThat(second.exitCode()).as(second::toString).isZero();
    assertThat(processes.read("log")).doesNotContain("end A").contains("end B");
  }

  @ParameterizedTest
  @EnumSource
  void atLeast_keepsTheLock(SqlKind kind) {
    use(kind);
    Job first = processes.holdfast("run", "-w", "1m", "--at-least", "1h", "hourly", "true");
    assertThat(first.exitCode()).as(first::toString).isZero();
    Job refused = processes.answered("run", "-n", "hourly", "true");
    assertThat(refused.exitCode()).as(refused::toString).isEqualTo(75);
    assertThat(refused.stderr()).contains("kept for another ");
  }

  @ParameterizedTest
  @EnumSource
  void doctor_tellsWhatTheServerDoes(SqlKind kind) {
    use(kind);
    Job first = processes.answered("run", "-n", "first", "true");
    assertThat(first.exitCode()).as(first::toString).isZero();
    Job job = processes.holdfast("doctor");
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout())
        .startsWith("store jdbc:" + kind.name().toLowerCase(Locale.ROOT))
        .contains("ok       connection: ")
        .doesNotContain("secret")
        .doesNotContain("problem");
  }

  /** A command that only looks makes no tables in a database that was named by mistake. */
  @ParameterizedTest
  @EnumSource
  void tablesThatAreNotThere_areNotMadeByALook(SqlKind kind) {
    use(kind);
    Matcher prefix = PREFIX.matcher(processes.store());
    assertThat(prefix.find()).isTrue();
    String table = prefix.group(1) + "lock";
    Job list = processes.holdfast("ls");
    assertThat(list.exitCode()).as(list::toString).isEqualTo(69);
    assertThat(list.stderr())
        .startsWith("holdfast: store jdbc:")
        .contains("there is no table ", table)
        .endsWith("; check the address, or let \"holdfast run\" create the tables\n")
        .hasLineCount(1);
    Job doctor = processes.holdfast("doctor");
    assertThat(doctor.exitCode()).as(doctor::toString).isEqualTo(1);
    assertThat(doctor.stdout()).contains("problem  connection: store jdbc:", table);
    assertThat(kind.shared()
            .query("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = '" + table
                + "'"))
        .containsExactly("0");
  }

  /** What it prints makes everything, for an account that may not make tables itself. */
  @ParameterizedTest
  @EnumSource
  void ddl_makesAllTables(SqlKind kind) throws SQLException {
    use(kind);
    SqlServer server = kind.shared();
    server.execute(
        "DROP TABLE IF EXISTS holdfast_fence",
        "DROP TABLE IF EXISTS holdfast_row",
        "DROP TABLE IF EXISTS holdfast_version");
    Map<String, String> require =
        Map.of("HOLDFAST_STORE", processes.store() + "&holdfast.tables=require");
    Job without =
        Processes.answered(() -> processes.holdfast(require, "run", "-n", "lock", "true"));
    assertThat(without.exitCode()).as(without::toString).isEqualTo(77);
    assertThat(without.stderr()).contains("holdfast ddl");
    String plain = exitedStdout(processes.holdfast("ddl"));
    String all = exitedStdout(processes.holdfast("ddl", "--data"));
    assertThat(plain).endsWith(";\n").doesNotContain("holdfast_fence");
    assertThat(all).startsWith(plain).endsWith(";\n");
    try (Connection connection = server.connect();
        Statement statement = connection.createStatement()) {
      for (String each : all.split(";\n", -1)) {
        if (!each.isBlank()) {
          statement.execute(each);
        }
      }
    }
    Job with = processes.holdfast(require, "run", "-w", "1m", "lock", "true");
    assertThat(with.exitCode()).as(with::toString).isZero();
    for (String table : List.of("holdfast_fence", "holdfast_row", "holdfast_version")) {
      assertThat(server.query("SELECT COUNT(*) FROM " + table)).containsExactly("0");
    }
  }

  /** A wrong password, and a server that is not there: one line each, without the password; nothing runs. */
  @ParameterizedTest
  @EnumSource
  void run_withoutAStore_saysWhy(SqlKind kind) {
    use(kind);
    String good = processes.store();
    String wrong = good.replace("password=secret", "password=guessed");
    Map<String, String> guessed = Map.of("HOLDFAST_STORE", wrong);
    Job refused =
        Processes.answered(() -> processes.holdfast(guessed, "run", "-n", "lock", "touch", "ran"));
    assertThat(refused.exitCode()).as(refused::toString).isEqualTo(77);
    assertThat(refused.stderr())
        .startsWith("holdfast: ")
        .hasLineCount(1)
        .doesNotContain("guessed")
        .contains(
            kind == SqlKind.POSTGRESQL
                ? "password authentication failed"
                : "Access denied for user")
        .endsWith("; correct user and password in the address\n");
    String nobody =
        good.replace(":" + kind.shared().port() + "/", ":" + ServerProcess.freePort() + "/");
    Map<String, String> nowhere = Map.of("HOLDFAST_STORE", nobody);
    Job unreachable = processes.holdfast(nowhere, "run", "-n", "lock", "touch", "ran");
    assertThat(unreachable.exitCode()).as(unreachable::toString).isEqualTo(69);
    assertThat(unreachable.stderr())
        .startsWith("holdfast: ")
        .hasLineCount(1)
        .doesNotContain("secret")
        .containsIgnoringCase("refused")
        .endsWith(START + "\n");
    assertThat(processes.file("ran")).doesNotExist();
    Job doctor = processes.holdfast(nowhere, "doctor");
    assertThat(doctor.exitCode()).as(doctor::toString).isEqualTo(1);
    assertThat(doctor.stdout()).contains("problem  connection: ").endsWith(START + "\n");
    Job list = processes.holdfast(nowhere, "ls");
    assertThat(list.exitCode()).as(list::toString).isEqualTo(69);
    assertThat(list.stderr()).hasLineCount(1).endsWith(START + "\n");
  }

  /** A job that does not wait is told at once that there is no server: there is one connection, and nothing runs. */
  @ParameterizedTest
  @EnumSource
  void run_withoutWaiting_connectsOnce(SqlKind kind) throws IOException {
    use(kind);
    AtomicInteger connections = new AtomicInteger();
    try (ServerSocket hangingUp = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread accepts = new Thread(
          () -> {
            try {
              while (true) {
                hangingUp.accept().close();
                connections.incrementAndGet();
              }
            } catch (IOException e) {
              // the test is over
            }
          },
          "hangs-up");
      accepts.setDaemon(true);
      accepts.start();
      String there = processes
          .store()
          .replace(":" + kind.shared().port() + "/", ":" + hangingUp.getLocalPort() + "/");
      Job told =
          processes.holdfast(Map.of("HOLDFAST_STORE", there), "run", "-n", "lock", "touch", "ran");
      assertThat(told.exitCode()).as(told::toString).isEqualTo(69);
      assertThat(told.stderr()).startsWith("holdfast: ").hasLineCount(1).doesNotContain("secret");
    }
    assertThat(processes.file("ran")).doesNotExist();
    assertThat(connections).hasValue(1);
  }

  private static String exitedStdout(Job job) {
    assertThat(job.exitCode()).as(job::toString).isZero();
    return job.stdout();
  }
}
