// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.process.Needs;
import io.holdfast.testkit.process.ServerPrograms;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process that has died holds nothing any more, whatever its leases say; and nothing else is taken for that. */
class SqliteDeathTest extends SqliteDeathCases {
  /** More than a cleaning takes here: one looks for files, and each file takes one. */
  private static final int CLEANING_STEPS = 10;

  /** Before a command of root's: it may open its own files as their permissions say, and no others. */
  private static final List<String> WITHOUT_THE_RIGHT =
      List.of("setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search");

  private static void signal(String signal, Process process) throws Exception {
    assertThat(new ProcessBuilder("kill", "-s", signal, Long.toString(process.pid()))
            .inheritIO()
            .start()
            .waitFor())
        .isZero();
  }

  private static String stat(Process process) {
    try {
      String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
      return stat.substring(stat.lastIndexOf(')') + 2).split(" ", 2)[0];
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Stopped within a transaction, it would keep all others from writing. Its own file is locked from 0 to the end. */
  private static boolean isWriting(Process process) throws IOException {
    try (Stream<String> locks = Files.lines(Path.of("/proc/locks"))) {
      return locks.anyMatch(
          line -> line.contains(" WRITE " + process.pid() + " ") && !line.endsWith(" 0 EOF"));
    }
  }

  /** Whether a client of this process gets the lock now. */
  private boolean acquires(String lock) {
    try (Client client = new Client(file()).connect()) {
      Claim claim = client.claim(lock);
      boolean granted = client.attempt(claim, Mode.TRY) instanceof Answer.Granted;
      client.end(claim);
      return granted;
    }
  }

  /** Whether a client of this process gets the lock after it has cleaned. */
  private boolean acquiresAfterCleaning(String lock) {
    try (Client client = new Client(file()).connect()) {
      Claim claim = client.claim(lock);
      for (int i = 0; i < CLEANING_STEPS; i++) {
        // runs on the thread that cleans, so after the next step of the cleaning
        Client.get(client.store.keep(List.of(claim)));
      }
      boolean granted = client.attempt(claim, Mode.TRY) instanceof Answer.Granted;
      client.end(claim);
      return granted;
    }
  }

  private boolean anotherProcessAcquires(String lock) throws Exception {
    holder("try", lock);
    return said().equals("Granted");
  }

  /** All locks of a process are free with its death, and nothing of it is left. */
  @Test
  void killed_itsLocksAreFreeAtOnce() throws Exception {
    Process dead = holder("hold", "a", "hold", "b");
    try (Client client = new Client(file()).connect()) {
      Claim a = client.claim("a");
      Answer.Busy busy = client.busy(a);
      assertThat(busy.holder()).isPresent();
      long before = Client.get(client.store.inspect(a.name())).orElseThrow().token();

      kill(dead);
      Patience.until(() -> client.attempt(a, Mode.TRY) instanceof Answer.Granted);
      assertThat(client.granted(client.claim("b"))).isNotNull();
      assertThat(Client.get(client.store.inspect(a.name())).orElseThrow().token())
          .isGreaterThan(before);
      // that of the living one
      Patience.until(() -> beside().size() == 1);
    }
    assertThat(beside()).isEmpty();
  }

  /** What waits is told, though nothing has changed in the file. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void killed_waitersAreTold(boolean fair) throws Exception {
    Process dead = holder("hold", "a");
    try (Client client = new Client(file()).connect()) {
      Claim waiting = client.claim("a", Client.LEASE, fair);
      client.busy(waiting);
      kill(dead);
      assertThat(client.told.poll(20, TimeUnit.SECONDS)).isEqualTo(waiting.id());
      Patience.until(() -> client.attempt(waiting, Mode.QUEUE) instanceof Answer.Granted);
    }
  }

  /** Rows of the same client that name no file say nothing about those that do. */
  @Test
  void killed_withAFixedLeaseToo_theOthersAreFree() throws Exception {
    Process dead = holder("fixed", "a", "hold", "b", "fixed", "c");
    try (Client client = new Client(file()).connect()) {
      Claim waiting = client.claim("b");
      client.busy(client.claim("a"));
      client.busy(waiting);
      client.busy(client.claim("c"));
      kill(dead);
      assertThat(client.told.poll(20, TimeUnit.SECONDS)).isEqualTo(waiting.id());
      Patience.until(() -> client.attempt(waiting, Mode.QUEUE) instanceof Answer.Granted);
    }
  }

  /** A fair waiter that has died is in no living one's way, neither when it looks nor when it asks. */
  @Test
  void killed_itsPlaceInTheQueueIsFreeAtOnce() throws Exception {
    try (Client client = new Client(file()).connect()) {
      Claim held = client.claim("a");
      client.granted(held);
      Process first = holder("wait", "a");
      try (Client second = new Client(file()).connect()) {
        sql("UPDATE holdfast_waiter SET until_us = until_us + 3600000000");
        Claim waiting = second.fair("a");
        assertThat(second.busy(waiting).queued()).isTrue();
        kill(first);
        client.end(held);
        assertThat(second.told.poll(20, TimeUnit.SECONDS)).isEqualTo(waiting.id());
        Patience.until(() -> second.attempt(waiting, Mode.QUEUE) instanceof Answer.Granted);
        Patience.until(() -> beside().size() == 2);
      }
    }
  }

  @Test
  void stoppedHolder_keepsItsLock() throws Exception {
    Process stopped = holder("hold", "a");
    do {
      signal("CONT", stopped);
      signal("STOP", stopped);
      Patience.until(() -> stat(stopped).equals("T"));
    } while (isWriting(stopped));
    assertThat(acquires("a")).isFalse();
    assertThat(beside()).as("its own").hasSize(1);
    signal("CONT", stopped);
    kill(stopped);
    Patience.until(() -> acquires("a"));
  }

  /** If a client closes without a release, the lease decides. */
  @Test
  void closed_leavesItsLocksToTheirLeases() throws Exception {
    try (Client client = new Client(file()).connect()) {
      client.granted(client.claim("a"));
    }
    assertThat(beside()).isEmpty();
    assertThat(acquires("a")).isFalse();
  }

  /** One that only looks makes no file. */
  @Test
  void onlyAnAttempt_makesAFile() throws Exception {
    try (Client client = new Client(file()).connect()) {
      Client.get(client.store.list("", Optional.empty()));
      Client.get(client.store.diagnose());
      assertThat(beside()).isEmpty();
      client.granted(client.claim("a"));
      assertThat(beside()).hasSize(1);
    }
  }

  /** An interrupt closes what is interruptible, and with it would go the lock. */
  @Test
  void interruptedCaller_makesItsFileAllTheSame() {
    new Client(file()).connect().close();
    SqliteLiveness liveness =
        new SqliteLiveness(SqliteOptions.of(file()), "sqlite:" + file(), Ticker.system());
    Thread.currentThread().interrupt();
    String own = liveness.own();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(own).isNotNull();
    assertThat(beside()).hasSize(1);
    liveness.close();
    assertThat(beside()).isEmpty();
  }

  /** A process that may use the database may use the file. */
  @Test
  void clientFile_hasTheDatabasesMode() throws Exception {
    try (Client client = new Client(file()).connect()) {
      Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-rw----"));
      client.granted(client.claim("a"));
      assertThat(PosixFilePermissions.toString(
              Files.getPosixFilePermissions(folder.resolve(beside().get(0)))))
          .isEqualTo("rw-rw----");
    }
  }

  /**
   * Two clients of one process, by one class loader or by two: none opens the other's file, since closing it would end the
   * lock that says that the process lives.
   */
  @Test
  void sameProcess_keepsItsOwnFilesLocked() throws Exception {
    try (Client holds = new Client(file()).connect();
        Client same = new Client(file()).connect()) {
      holds.granted(holds.claim("a"));
      assertThat(same.attempt(same.claim("a"), Mode.TRY)).isInstanceOf(Answer.Busy.class);
      assertThat(anotherProcessAcquires("a")).as("after the same class loader").isFalse();
      tryInAnotherLoader("a");
      assertThat(anotherProcessAcquires("a")).as("after another class loader").isFalse();
      assertThat(holds.keep(holds.claim("a"))).isNotNull();
    }
  }

  /** Cleans, and tries, with classes of its own. */
  private void tryInAnotherLoader(String lock) throws Exception {
    List<URL> urls = new ArrayList<>();
    for (String each : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (!each.contains("sqlite-jdbc")) {
        urls.add(Path.of(each).toUri().toURL());
      }
    }
    ClassLoader driver = Connection.class.getClassLoader();
    try (URLClassLoader loader = new ChildFirst(urls.toArray(URL[]::new), driver)) {
      Class<?> marks = loader.loadClass(SqliteClientFile.class.getName());
      assertThat(marks).isNotSameAs(SqliteClientFile.class);
      Class<?> trying = loader.loadClass(Trying.class.getName());
      var method = trying.getDeclaredMethod("run", String.class, String.class);
      method.setAccessible(true);
      assertThat(method.invoke(null, file().toString(), lock)).isEqualTo("Busy");
    }
  }

  /** Ours are loaded anew; the driver, whose native library a JVM loads once, is the one that is there. */
  private static final class ChildFirst extends URLClassLoader {
    ChildFirst(URL[] urls, ClassLoader parent) {
      super(urls, parent);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      return name.startsWith("org.sqlite.")
          ? SqliteDeathTest.class.getClassLoader().loadClass(name)
          : super.findClass(name);
    }
  }

  /** What another class loader runs. */
  static final class Trying {
    private Trying() {}

    static String run(String file, String lock) {
      try (Client client = new Client(Path.of(file)).connect()) {
        Claim claim = client.claim(lock);
        client.attempt(claim, Mode.QUEUE);
        Patience.until(() -> client.timers.get() > 3);
        return client.attempt(claim, Mode.TRY).getClass().getSimpleName();
      }
    }
  }

  private void sql(String statement) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        Statement run = connection.createStatement()) {
      assertThat(run.executeUpdate(statement)).isPositive();
    }
  }

  private String fileInRow() throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        Statement run = connection.createStatement();
        ResultSet row =
            run.executeQuery("SELECT client_file FROM holdfast_lock WHERE name = 'a'")) {
      return row.getString(1);
    }
  }

  /** No row, file, inode or boot that proves a death. */
  @ParameterizedTest
  @ValueSource(strings = {"no name", "no file", "another file", "a folder", "another boot"})
  void uncertainDeath_theLeaseDecides(String what) throws Exception {
    Process dead = holder("hold", "a");
    Path its = folder.resolve(beside().get(0));
    String inRow = fileInRow();
    assertThat(inRow).endsWith(its.getFileName().toString().substring("locks.db.".length()));
    kill(dead);
    switch (what) {
      case "no name" -> sql("UPDATE holdfast_lock SET client_file = NULL");
      case "no file" -> Files.delete(its);
      case "another file" -> {
        Files.move(its, folder.resolve("kept"));
        Files.writeString(its, "locked once");
      }
      case "a folder" -> {
        Files.delete(its);
        Files.createDirectory(its);
      }
      default -> {
        String boot = inRow.substring(inRow.indexOf(' ') + 1, inRow.indexOf('.'));
        String other = boot.equals("00000000") ? "11111111" : "00000000";
        sql("UPDATE holdfast_lock SET client_file = replace(client_file, '" + boot + "', '" + other
            + "')");
        Files.move(its, folder.resolve(its.getFileName().toString().replace(boot, other)));
      }
    }
    assertThat(acquires("a")).isFalse();
    assertThat(acquiresAfterCleaning("a")).isFalse();
  }

  /** What may open every file, as root may, cannot show it: then another process without that right does. */
  @Test
  void unreadableFile_theLeaseDecides() throws Exception {
    Needs.that(
        !ServerPrograms.isRoot() || runs(WITHOUT_THE_RIGHT, "true"),
        "a file that may not be read is not tested: root, and no setpriv of util-linux that takes rights away");
    Process dead = holder("hold", "a");
    Files.setPosixFilePermissions(
        folder.resolve(beside().get(0)), PosixFilePermissions.fromString("---------"));
    kill(dead);
    holderBehind(
        ServerPrograms.isRoot() ? WITHOUT_THE_RIGHT : List.of(), "sqlite:" + file(), "try", "a");
    assertThat(said()).isEqualTo("Busy");
  }

  private static boolean runs(List<String> before, String command) throws InterruptedException {
    List<String> line = new ArrayList<>(before);
    line.add(command);
    try {
      return new ProcessBuilder(line).start().waitFor() == 0;
    } catch (IOException e) {
      // no such command
      return false;
    }
  }

  /** As long as its work may go on, the death of a process is no reason. */
  @Test
  void workFile_keepsTheLockTaken() throws Exception {
    Path work = folder.resolve("locks.db.w0rk.work");
    Process dead = holderOf("sqlite:" + file() + "?holdfast.work-id=w0rk", "hold", "a");
    Files.createFile(work);
    kill(dead);
    assertThat(acquires("a")).isFalse();
    assertThat(acquiresAfterCleaning("a")).isFalse();
    Files.delete(work);
    Patience.until(() -> acquires("a"));
  }

  /** It died before it began its work. */
  @Test
  void noWorkFile_theLockIsFree() throws Exception {
    kill(holderOf("sqlite:" + file() + "?holdfast.work-id=w0rk", "hold", "a"));
    Patience.until(() -> acquires("a"));
  }

  /** A file that was not removed goes when nothing is held under it. */
  @Test
  void workFile_isDeletedWhenTheLeasesHaveEnded() throws Exception {
    Path work = folder.resolve("locks.db.w0rk.work");
    Process dead = holderOf("sqlite:" + file() + "?holdfast.work-id=w0rk", "hold", "a");
    Files.createFile(work);
    kill(dead);
    acquires("b");
    assertThat(work).exists();
    sql("UPDATE holdfast_lock SET until_us = 1");
    try (Client client = new Client(file()).connect()) {
      Patience.until(() -> !Files.exists(work));
      assertThat(client.attempt(client.claim("a"), Mode.TRY)).isInstanceOf(Answer.Granted.class);
    }
  }

  /** The caller may count on its length: it is not cut short. */
  @Test
  void fixedLease_lasts() throws Exception {
    kill(holder("fixed", "a"));
    assertThat(acquires("a")).isFalse();
  }

  /** A file that its process had not locked yet proves nothing, and goes. */
  @Test
  void emptyFile_isDeletedAndFreesNothing() throws Exception {
    Process dead = holder("hold", "a");
    Path its = folder.resolve(beside().get(0));
    kill(dead);
    Files.write(its, new byte[0], StandardOpenOption.TRUNCATE_EXISTING);
    assertThat(acquiresAfterCleaning("a")).isFalse();
    assertThat(its).doesNotExist();
  }

  /** What a power failure, or two deletions of which one failed, may leave. */
  @Test
  void workFileWithoutItsClients_isDeleted() throws Exception {
    new Client(file()).connect().close();
    Process holder = holderOf("sqlite:" + file() + "?holdfast.work-id=w0rk", "hold", "a");
    Path work = Files.createFile(folder.resolve("locks.db.w0rk.work"));
    Path lone = Files.createFile(folder.resolve("locks.db.l0ne.work"));
    Path others = Files.createFile(folder.resolve("locks.db.backup.of.work"));
    try (Client client = new Client(file()).connect()) {
      Patience.until(() -> !Files.exists(lone));
      assertThat(client.attempt(client.claim("a"), Mode.TRY)).isInstanceOf(Answer.Busy.class);
    }
    assertThat(others).exists();
    assertThat(work).exists();
    kill(holder);
  }
}
