// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.jdbc.FencingGuard;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.Signals;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Eight processes move money between ten accounts, in each of the three ways; no money comes or goes. */
@Tag("stores")
class TransfersProcessesTest {
  private static final int BANKS = 8;
  private static final long ALL_THE_MONEY = TransferMachine.ACCOUNTS * TransferMachine.BALANCE;
  private static final long LEASE_MILLIS = 1_500L * Integer.getInteger("holdfast.patience", 1);

  @TempDir
  static Path folder = Path.of("set before all tests");

  private static final List<Started> BANKS_OPEN = new ArrayList<>();
  private static int told;

  @BeforeAll
  static void start() throws IOException {
    for (int i = 0; i < BANKS; i++) {
      BANKS_OPEN.add(Started.start(
          folder,
          "bank" + i,
          HourlyMessageCases.java(
              TransferMachine.class.getName(), Integer.toString(i), Long.toString(LEASE_MILLIS))));
    }
  }

  @AfterAll
  static void endWhatIsLeft() throws InterruptedException {
    for (Started bank : BANKS_OPEN) {
      bank.process().destroyForcibly().waitFor();
    }
    BANKS_OPEN.clear();
  }

  private final List<ServerProcess> servers = new ArrayList<>();

  /** With leases of another store: on PostgreSQL of Redis, on the others of another database. */
  @ParameterizedTest
  @CsvSource({
    "POSTGRESQL, REDIS, 5000, 4000, 1000",
    "MARIADB, POSTGRESQL, 400, 400, 80",
    "MYSQL, MARIADB, 400, 400, 80"
  })
  void theSumStaysTheSame(SqlKind kind, String store, int rows, int optimistic, int leased)
      throws Exception {
    try (HikariDataSource dataSource = dataSource(kind)) {
      Accounts accounts = openAccounts(dataSource);
      openBanks(kind, store(store));
      all("rows", rows);
      assertThat(accounts.total()).isEqualTo(ALL_THE_MONEY);
      all("optimistic", optimistic);
      assertThat(accounts.total()).isEqualTo(ALL_THE_MONEY);

      accounts.open(TransferMachine.ACCOUNTS, TransferMachine.BALANCE);
      List<Frozen> frozen = List.of(freeze(0, "leased 1 2 10"), freeze(1, "leased 3 4 20"));
      // these wait for the leases of the frozen ones, and have written when they have them
      move(2, "leased 5 1 50");
      move(3, "leased 4 6 50");
      List<String> done = new ArrayList<>();
      for (int i = 2; i < BANKS; i++) {
        done.add(tell(i, "many leased " + leased / BANKS));
      }
      for (Frozen each : frozen) {
        assertThat(each.goOn()).isEqualTo("TOO_LATE");
        done.add(tell(each.bank(), "many leased " + leased / BANKS));
      }
      awaitDone(done);
      assertThat(accounts.total()).isEqualTo(ALL_THE_MONEY);
    } finally {
      servers.forEach(ServerProcess::close);
    }
  }

  /** The negative control: without the guard a frozen holder writes what it has made of old balances. */
  @Test
  void withoutTheGuard_moneyIsLost() throws Exception {
    try (HikariDataSource dataSource = dataSource(SqlKind.POSTGRESQL)) {
      Accounts accounts = openAccounts(dataSource);
      openBanks(SqlKind.POSTGRESQL, store("REDIS"));
      Frozen frozen = freeze(0, "unguarded 1 2 10");
      move(1, "unguarded 5 1 50");
      assertThat(accounts.total()).isEqualTo(ALL_THE_MONEY);
      assertThat(frozen.goOn()).isEqualTo("TRANSFERRED");
      assertThat(accounts.total())
          .as("what account 1 was given is overwritten")
          .isEqualTo(ALL_THE_MONEY - 50);
    } finally {
      servers.forEach(ServerProcess::close);
    }
  }

  private static HikariDataSource dataSource(SqlKind kind) {
    SqlServer server = kind.shared();
    return TransferMachine.dataSource(server.jdbcUrl(), server.user(), server.password());
  }

  private static Accounts openAccounts(HikariDataSource dataSource) throws Exception {
    FencingGuard.createTable(dataSource);
    Accounts accounts = new Accounts(dataSource);
    accounts.open(TransferMachine.ACCOUNTS, TransferMachine.BALANCE);
    // tokens of another test's store
    for (int id = 1; id <= TransferMachine.ACCOUNTS + 1; id++) {
      String resource = "account:" + id;
      accounts.inTransaction(connection -> {
        FencingGuard.reset(connection, resource);
        return true;
      });
    }
    return accounts;
  }

  private String store(String name) throws Exception {
    if (!name.equals("REDIS")) {
      return SqlKind.valueOf(name).shared().storeUri();
    }
    int port = ServerProcess.freePort();
    ServerProcess redis = ServerProcess.of("redis-server");
    servers.add(redis);
    redis.start(List.of(
        "--port",
        Integer.toString(port),
        "--bind",
        "127.0.0.1",
        "--dir",
        redis.folder().toString(),
        "--save",
        ""));
    return FirstAnswer.of(redis, "redis://127.0.0.1:" + port);
  }

  private static void openBanks(SqlKind kind, String store) throws Exception {
    SqlServer server = kind.shared();
    List<String> opened = new ArrayList<>();
    for (int i = 0; i < BANKS; i++) {
      opened.add(tell(
          i,
          "open " + server.jdbcUrl() + " " + server.user() + " " + server.password() + " "
              + store));
    }
    for (int i = 0; i < BANKS; i++) {
      await(i, opened.get(i), "ready");
    }
  }

  /** All banks together do so many transfers. */
  private static void all(String way, int transfers) throws Exception {
    List<String> done = new ArrayList<>();
    for (int i = 0; i < BANKS; i++) {
      done.add(tell(i, "many " + way + " " + transfers / BANKS));
    }
    awaitDone(done);
  }

  private static void awaitDone(List<String> tags) throws Exception {
    for (String tag : tags) {
      await(Integer.parseInt(tag.split("-", 2)[0]), tag, "done");
    }
  }

  private static void move(int bank, String transfer) throws Exception {
    await(bank, tell(bank, "move " + transfer), "TRANSFERRED");
  }

  /** Tells a bank something, under a word that its answer begins with. */
  private static String tell(int bank, String what) throws IOException {
    String tag = bank + "-" + ++told;
    BANKS_OPEN.get(bank).tell(tag + " " + what);
    return tag;
  }

  private static void await(int bank, String tag, String answer) throws Exception {
    Started process = BANKS_OPEN.get(bank);
    Started.until(
        "bank " + bank + " says: " + answer,
        () -> process.count(tag) > 0 || !process.process().isAlive());
    assertThat(process.hasSaid(tag + " " + answer))
        .as(() -> "bank " + bank + " said: " + process.text())
        .isTrue();
  }

  /** Stops a bank when it has read and not yet written. */
  private static Frozen freeze(int bank, String transfer) throws Exception {
    String tag = tell(bank, "freeze " + transfer);
    await(bank, tag, "read");
    signal("STOP", bank);
    return new Frozen(bank, tag);
  }

  private static void signal(String signal, int bank) throws Exception {
    long pid = BANKS_OPEN.get(bank).process().pid();
    assertThat(Signals.send(signal, List.of(pid))).isTrue();
  }

  /** A bank that was stopped between reading and writing. */
  private record Frozen(int bank, String tag) {
    /** Lets it go on, and returns what it answers. */
    String goOn() throws Exception {
      signal("CONT", bank);
      Started process = BANKS_OPEN.get(bank);
      process.tell("go on");
      Started.until(
          "bank " + bank + " answers",
          () -> process.count(tag) > 1 || !process.process().isAlive());
      return process
          .text()
          .lines()
          .filter(line -> line.startsWith(tag + " ") && !line.endsWith(" read"))
          .findFirst()
          .map(line -> line.substring(tag.length() + 1))
          .orElseThrow(() -> new AssertionError(process.text()));
    }
  }
}
