// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import io.holdfast.verify.Protocol;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast verify}: ours passes, what proves nothing is not said to, and what was seen is told whatever comes. */
@Tag("fast")
@Tag("stores")
@Isolated
class VerifyCommandTest {
  private static final Pattern EVALUATED = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");

  /** So many scripts that some of them gave a lock. */
  private static final int MANY = 15;

  @RegisterExtension
  final Processes processes = new Processes();

  private static String uri(String store) {
    return switch (store) {
      case "postgresql" -> SqlKind.POSTGRESQL.shared().storeUri("holdfast.prefix=verify_");
      default -> store;
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"sqlite:verify.db", "postgresql"})
  void ours(String store) {
    Job job = processes.verify(
        uri(store),
        "--duration",
        "8s",
        "--lease",
        "1s",
        "--history",
        "facts",
        "--report",
        "page.html");
    if (Program.hasArchive()) {
      Await.until("a worker has the archive", () -> hasWorkerWithArchive(job), job::toString);
    }
    assertThat(job.exitCode()).as(job::toString).isZero();
    assertThat(job.stdout()).contains("PASSED").containsPattern("(?m)^kills +[1-9]");
    assertThat(processes.read("facts").lines())
        .allMatch(line -> line.startsWith("{\"what\":\"") && line.endsWith("}"))
        .anyMatch(line -> line.contains("\"ACQUIRED\""));
    // all that is judged was looked at
    assertThat(processes.read("page.html"))
        .contains("\"outcome\":\"PASSED\"", "\"one holder at a time\"", "holdfast verify --store ")
        .doesNotContainPattern("\"I([1-8]|10|12)\",\"[^\"]*\",0,");
  }

  private static boolean hasWorkerWithArchive(Job job) {
    assertThat(job.process().isAlive()).as(job::toString).isTrue();
    return job.process()
        .children()
        .flatMap(each -> each.info().commandLine().stream())
        .anyMatch(line ->
            line.contains("-XX:SharedArchiveFile=") && line.contains("io.holdfast.verify.Worker"));
  }

  @ParameterizedTest
  @CsvSource({
    "--report, nowhere/x.html, no such folder",
    "--history, tmp, is a folder",
  })
  void fileThatCannotBeWritten_is73BeforeTheRun(String option, String file, String why) {
    Job job = processes.verify("sqlite:verify.db", option, file);
    assertThat(job.exitCode()).as(job::toString).isEqualTo(73);
    assertThat(job.stdout()).isEmpty();
    assertThat(job.stderr()).endsWith("holdfast: cannot write " + file + ": " + why + "\n");
  }

  /** The run was made; what it has seen could not be kept. */
  @Test
  void diskThatIsFull_isNamedWithItsFile() {
    Job job = processes.verify(
        "sqlite:verify.db", "--duration", "2s", "--lease", "1s", "--history", "/dev/full");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(73);
    assertThat(job.stderr())
        .endsWith("holdfast: cannot write /dev/full: no space left on device\n");
  }

  @Test
  void list_namesEach() {
    Job job = processes.holdfast("verify", "--list");
    assertThat(job.exitCode()).as(job::toString).isZero();
    String oneLine = job.stdout().replaceAll("\\s+", " ");
    for (Protocol each : Protocol.values()) {
      assertThat(oneLine).contains(" " + each.label()).contains(each.text());
    }
    assertThat(job.stdout().lines()).allMatch(line -> line.length() <= 100);
    assertThat(job.stdout().lines().filter(line -> !line.isEmpty() && !line.startsWith(" ")))
        .containsExactly("Holdfast", "Databases", "Redis", "ZooKeeper");
    assertThat(job.stdout().lines())
        .contains("  redis-setnx: ends with a free lock that no process could get (I5)");
  }

  @Test
  void lines_areBrokenBetweenWords() {
    assertThat(VerifyCommand.wrap("one two three", 7)).containsExactly("one two", "three");
    assertThat(VerifyCommand.wrap("much-too-long a", 5)).containsExactly("much-too-long", "a");
  }

  /** Each process would have locks of its own, and "broken" would be no news. */
  @Test
  void storeOfOneProcess_isRefused() {
    Job job = processes.holdfast("verify", "--store", "memory:");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(64);
    assertThat(job.stderr())
        .contains("memory: excludes the threads of one process only, and verify starts several");
  }

  @Test
  void nonsense_isRefused() {
    refused("there is no protocol x; there are holdfast, sql-no-expiry", "--protocol", "x");
    refused("there is no protocol redis-dell; did you mean redis-del?", "--protocol", "redis-dell");
    refused("is not for this store", "--protocol", "redis-del");
    refused("cannot be injected into a server that verify did not start", "--faults", "clock");
    refused("for servers that sentinels watch over", "--faults", "failover");
    refused("a run may last", "--duration", "9h");
    refused("the number of clients must be from 2 to 64", "--clients", "1");
    refused("a run must last at least two leases", "--lease", "1m");
  }

  /** Told before the run, and not after it. */
  @Test
  void fileThatCannotBeWritten_isToldAtOnce() {
    Job job = processes.holdfast(
        "verify",
        "--store",
        "sqlite:unwritten.db",
        "--duration",
        "1h",
        "--history",
        "no/such/folder");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(73);
  }

  /** No shell, so that no process can be stopped: it is not the record's file that is at fault. */
  @Test
  void systemThatStopsNobody_isTold_andTheRecordIsThere() {
    Job job = processes.holdfast(
        Map.of("PATH", processes.folder().toString()),
        "verify",
        "--store",
        "sqlite:unstopped.db",
        "--faults",
        "pause",
        "--duration",
        "1m",
        "--history",
        "facts");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(71);
    assertThat(job.stderr()).contains("no verdict: ");
    assertThat(processes.read("facts")).contains("\"STARTED\"");
  }

  /**
   * The server is killed during the run, as somebody may do on purpose: what was seen until then is told. All workers live on,
   * and ask in the end for a lock that nobody can have.
   */
  @Test
  void storeThatGoesAway_leavesTheRecord() {
    RedisProcess server = new RedisProcess();
    Job job = processes.verify(
        "redis://" + server.address(),
        "--duration",
        "5s",
        "--lease",
        "500ms",
        "--faults",
        "pause",
        "--history",
        "facts");
    try {
      Await.until("some locks were given", () -> hasGiven(server), job::toString);
    } finally {
      server.close();
    }
    assertThat(job.exitCode()).as(job::toString).isEqualTo(3);
    assertThat(job.stdout()).contains("INCONCLUSIVE: ", "the store was away in the end");
    assertThat(processes.read("facts")).contains("\"ACQUIRED\"");
  }

  /** What is given is told through a pipe a little later: several, so that one of them was. */
  private static boolean hasGiven(RedisProcess server) throws IOException {
    Matcher calls = EVALUATED.matcher(server.ask("INFO commandstats"));
    return calls.find() && Integer.parseInt(calls.group(1)) > MANY;
  }

  @Test
  void noFaults_proveNothing() {
    Job job = processes.verify(
        "sqlite:none.db", "--duration", "2s", "--lease", "500ms", "--faults", "none");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(3);
    assertThat(job.stdout()).contains("INCONCLUSIVE: no faults were injected");
  }

  private void refused(String why, String... options) {
    Job job = processes.holdfast(
        Stream.concat(Stream.of("verify", "--store", "sqlite:refused.db"), Arrays.stream(options))
            .toArray(String[]::new));
    assertThat(job.exitCode()).as(job::toString).isEqualTo(64);
    assertThat(job.stderr()).contains(why);
  }

  /** Somebody uses the store, and there is no terminal to ask on. */
  @Test
  void storeOfOthers_isLeftAlone() {
    processes.use("sqlite");
    String work = processes.script("work", "echo $$ >pid", "until [ -e go ]; do sleep 0.05; done");
    Job other = processes.holdfast("run", "jobs", work);
    assertThat(processes.pid("pid")).isPositive();
    Job job = processes.holdfast("verify", "--duration", "5s");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(64);
    assertThat(job.stderr()).contains("the store has other locks (1 were seen)").contains("--yes");
    processes.touch("go");
    assertThat(other.exitCode()).isZero();
  }

  /** A holder that was killed has left its key; SIGINT is what Ctrl-C sends. */
  @Test
  void textbookRunThatIsInterrupted_leavesNothingOnRedis() {
    try (RedisProcess server = new RedisProcess()) {
      Job job = textbookRun("redis://" + server.address(), Protocol.REDIS_SETNX);
      untilOneIsLeft(() -> server.ask("GET " + server.ask("RANDOMKEY")), job);
      job.signal("INT");
      assertThat(job.exitCode()).as(job::toString).isEqualTo(130);
      assertThat(server.ask("DBSIZE")).as(job::toString).isEqualTo(":0");
      assertThat(job.stderr()).doesNotContain("is still there");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @EnumSource
  void textbookRunThatIsInterrupted_leavesNoRow(SqlKind kind) {
    var server = kind.shared();
    server.execute("DROP TABLE IF EXISTS holdfast_verify_textbook");
    Job job = textbookRun(server.storeUri("holdfast.prefix=ended_"), Protocol.SQL_NO_EXPIRY);
    Await.until("the table is there", () -> hasTable(server), job::toString);
    untilOneIsLeft(
        () -> String.join(" ", server.query("SELECT ends FROM holdfast_verify_textbook")), job);
    job.signal("TERM");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(143);
    assertThat(server.query("SELECT name FROM holdfast_verify_textbook"))
        .as(job::toString)
        .isEmpty();
  }

  private static boolean hasTable(SqlServer server) {
    return !server
        .query(
            "SELECT 1 FROM information_schema.tables WHERE table_name = 'holdfast_verify_textbook'")
        .isEmpty();
  }

  /** The process ends all the same, and says what it could not do. */
  @Test
  void textbookRunThatIsInterrupted_whileTheStoreIsSilent_saysWhatIsLeft() {
    try (RedisProcess server = new RedisProcess()) {
      Job job = textbookRun("redis://" + server.address(), Protocol.REDIS_SETNX);
      Await.until("a lock is taken", () -> !server.ask("DBSIZE").equals(":0"), job::toString);
      server.pause();
      job.signal("INT");
      assertThat(job.exitCode()).as(job::toString).isEqualTo(130);
      assertThat(job.stderr())
          .contains("what redis-setnx leaves in the store is still there: it does not answer\n");
    }
  }

  private Job textbookRun(String uri, Protocol protocol) {
    return processes.verify(
        uri,
        "--protocol",
        protocol.label(),
        "--duration",
        "10m",
        "--lease",
        "500ms",
        "--faults",
        "kill");
  }

  /** What a read shows of the one lock of the run stays the same for so long that its holder was killed. */
  private static void untilOneIsLeft(Callable<String> read, Job job) {
    AtomicReference<String> last = new AtomicReference<>("");
    AtomicInteger times = new AtomicInteger();
    Await.until(
        "a lock is left behind",
        () -> {
          String now = read.call();
          boolean same = now.equals(last.getAndSet(now)) && !now.isEmpty() && !now.equals("$-1");
          return times.updateAndGet(before -> same ? before + 1 : 0) > MANY;
        },
        job::toString);
  }

  /** A table that takes no row: no process ever gets a lock, and that is not "nothing was broken". */
  @Test
  void noGrants_proveNothing() {
    var server = SqlKind.MARIADB.shared();
    server.execute(
        "DROP TABLE IF EXISTS holdfast_verify_textbook",
        "CREATE TABLE holdfast_verify_textbook (name varchar(200) PRIMARY KEY, ends timestamp(6) NOT NULL,"
            + " CHECK (name = ''))");
    Job job = processes.verify(
        server.storeUri(),
        "--protocol",
        "sql-no-owner",
        "--duration",
        "2s",
        "--lease",
        "500ms",
        "--faults",
        "none");
    assertThat(job.exitCode()).as(job::toString).isEqualTo(3);
    assertThat(job.stdout()).contains("INCONCLUSIVE: no process ever got a lock");
    server.execute("DROP TABLE holdfast_verify_textbook");
  }
}
