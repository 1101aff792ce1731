// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Mode;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process that has died holds nothing any more, whatever its leases say; and nothing else is taken for that. */
class SqliteDeathTest {
  /** Longer than a look, which may be left out until then. */
  private static final Duration A_LOOK = Duration.ofNanos(SqliteMarks.LOOK_EVERY_US * 1000);

  @TempDir
  private Path folder;

  private final List<Process> processes = new ArrayList<>();
  private int started;

  private Path file() {
    return folder.resolve("locks.db");
  }

  private Process holder(String... what) throws Exception {
    return holderOf("sqlite:" + file(), what);
  }

  /** Starts a process, and waits until it has done what it is to do. */
  private Process holderOf(String address, String... what) throws Exception {
    Path done = folder.resolve("done-" + started++);
    List<String> line = new ArrayList<>(List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-cp",
        System.getProperty("java.class.path"),
        "-Xmx128m",
        "-XX:TieredStopAtLevel=1",
        SqliteHolder.class.getName(),
        address,
        done.toString()));
    Collections.addAll(line, what);
    Path log = folder.resolve("log-" + started);
    Process process = new ProcessBuilder(line)
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
    processes.add(process);
    Patience.until(() -> Files.exists(done) || !process.isAlive());
    assertThat(done).as(Files.readString(log)).exists();
    return process;
  }

  private String said() throws IOException {
    return Files.readString(folder.resolve("done-" + (started - 1)));
  }

  private static void kill(Process process) throws InterruptedException {
    process.destroyForcibly();
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
  }

  private static void signal(String signal, Process process) throws Exception {
    assertThat(new ProcessBuilder("kill", "-s", signal, Long.toString(process.pid()))
            .inheritIO()
            .start()
            .waitFor())
        .isZero();
  }

  @AfterEach
  void endProcesses() throws InterruptedException {
    for (Process process : processes) {
      kill(process);
    }
  }

  private List<String> beside() {
    try (Stream<Path> all = Files.list(folder)) {
      return all.map(path -> path.getFileName().toString())
          .filter(name -> name.endsWith(".client") || name.endsWith(".work"))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean isFree(String lock) throws Exception {
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
      assertThat(beside()).as("the file of the living one").hasSize(1);
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

  /** A fair waiter that has died is in no living one's way, neither when it looks nor when it asks. */
  @Test
  void killed_itsPlaceInTheQueueIsFreeAtOnce() throws Exception {
    try (Client client = new Client(file()).connect()) {
      Claim held = client.claim("a");
      client.granted(held);
      Process first = holder("wait", "a");
      try (Client second = new Client(file()).connect()) {
        Claim waiting = second.fair("a");
        assertThat(second.busy(waiting).queued()).isTrue();
        kill(first);
        sql("UPDATE holdfast_waiter SET until_us = until_us + 3600000000 WHERE seq = 1");
        client.end(held);
        assertThat(second.told.poll(20, TimeUnit.SECONDS)).isEqualTo(waiting.id());
        Patience.until(() -> second.attempt(waiting, Mode.QUEUE) instanceof Answer.Granted);
        assertThat(beside()).hasSize(2);
      }
    }
  }

  @Test
  void stopped_isAlive() throws Exception {
    Process stopped = holder("hold", "a");
    signal("STOP", stopped);
    assertThat(isFree("a")).isFalse();
    assertThat(beside()).as("its own, and that of the process which tried").hasSize(2);
    signal("CONT", stopped);
    kill(stopped);
    assertThat(isFree("a")).isTrue();
  }

  /** Alive, but closed: what it did not release is left to its lease, also when the process has ended later. */
  @Test
  void closed_leavesItsLocksToTheirLeases() throws Exception {
    try (Client client = new Client(file()).connect()) {
      client.granted(client.claim("a"));
    }
    assertThat(beside()).isEmpty();
    assertThat(isFree("a")).isFalse();
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

  /** The file may be used by whoever may use the database. */
  @Test
  void itsModeIsTheDatabases() throws Exception {
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
  void sameProcess_isNeverLookedAt() throws Exception {
    try (Client holds = new Client(file()).connect();
        Client same = new Client(file()).connect()) {
      holds.granted(holds.claim("a"));
      assertThat(same.attempt(same.claim("a"), Mode.TRY)).isInstanceOf(Answer.Busy.class);
      assertThat(isFree("a")).as("after the same class loader").isFalse();
      tryInAnotherLoader("a");
      assertThat(isFree("a")).as("after another class loader").isFalse();
      assertThat(holds.keep(holds.claim("a"))).isNotNull();
    }
  }

  /** Cleans, and tries, with classes of its own. */
  private void tryInAnotherLoader(String lock) throws Exception {
    List<URL> urls = new ArrayList<>();
    for (String each : System.getProperty("java.class.path").split(File.pathSeparator)) {
      if (!each.contains("sqlite-jdbc")) {
        urls.add(Path.of(each).toUri().toURL());
      }
    }
    ClassLoader driver = Connection.class.getClassLoader();
    try (URLClassLoader loader = new ChildFirst(urls.toArray(URL[]::new), driver)) {
      Class<?> marks = loader.loadClass(SqliteMark.class.getName());
      assertThat(marks).isNotSameAs(SqliteMark.class);
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

  private String mark() throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        Statement run = connection.createStatement();
        ResultSet row = run.executeQuery("SELECT mark FROM holdfast_lock WHERE name = 'a'")) {
      return row.getString(1);
    }
  }

  /** What says nothing: then the lease decides. */
  @ParameterizedTest
  @ValueSource(strings = {"no name", "no file", "another file", "a folder", "another boot"})
  void saysNothing_theLeaseDecides(String what) throws Exception {
    Process dead = holder("hold", "a");
    Path its = folder.resolve(beside().get(0));
    String mark = mark();
    assertThat(mark).endsWith(its.getFileName().toString().substring("locks.db.".length()));
    kill(dead);
    switch (what) {
      case "no name" -> sql("UPDATE holdfast_lock SET mark = NULL");
      case "no file" -> Files.delete(its);
      case "another file" -> {
        Files.move(its, folder.resolve("kept"));
        Files.createFile(its);
      }
      case "a folder" -> {
        Files.delete(its);
        Files.createDirectory(its);
      }
      default -> {
        String boot = mark.substring(mark.indexOf(' ') + 1, mark.indexOf('.'));
        String other = boot.equals("00000000") ? "11111111" : "00000000";
        sql("UPDATE holdfast_lock SET mark = replace(mark, '" + boot + "', '" + other + "')");
        Files.move(its, folder.resolve(its.getFileName().toString().replace(boot, other)));
      }
    }
    assertThat(isFree("a")).isFalse();
    assertThat(isFree("a")).as("after somebody has cleaned up").isFalse();
  }

  /** Root may open everything. */
  @Test
  void aFileThatMayNotBeOpened_saysNothing() throws Exception {
    Assumptions.assumeFalse(System.getProperty("user.name").equals("root"), "run as root");
    Process dead = holder("hold", "a");
    Files.setPosixFilePermissions(
        folder.resolve(beside().get(0)), PosixFilePermissions.fromString("---------"));
    kill(dead);
    assertThat(isFree("a")).isFalse();
  }

  /** As long as its work may go on, the death of a process is no reason. */
  @Test
  void markOfItsWork_isWaitedFor() throws Exception {
    Path work = folder.resolve("locks.db.w0rk.work");
    Process dead = holderOf("sqlite:" + file() + "?holdfast.work-mark=w0rk", "hold", "a");
    Files.createFile(work);
    kill(dead);
    assertThat(isFree("a")).isFalse();
    assertThat(isFree("a")).as("after somebody has cleaned up").isFalse();
    Files.delete(work);
    assertThat(isFree("a")).isTrue();
  }

  /** It died before it began its work. */
  @Test
  void noMarkOfItsWork_isNotWaitedFor() throws Exception {
    kill(holderOf("sqlite:" + file() + "?holdfast.work-mark=w0rk", "hold", "a"));
    assertThat(isFree("a")).isTrue();
  }

  /** A mark that its process could not take away goes when nothing is held under it. */
  @Test
  void markOfItsWork_isDeletedWhenItsLeasesHaveEnded() throws Exception {
    Path work = folder.resolve("locks.db.w0rk.work");
    Process dead = holderOf("sqlite:" + file() + "?holdfast.work-mark=w0rk", "hold", "a");
    Files.createFile(work);
    kill(dead);
    isFree("b");
    assertThat(work).exists();
    sql("UPDATE holdfast_lock SET until_us = 1");
    try (Client client = new Client(file()).connect()) {
      Patience.until(() -> !Files.exists(work));
    }
  }

  /** Each with a lock, and killed in the middle of it. */
  @Test
  void aThousandDead_leaveNothing() throws Exception {
    for (int i = 0; i < 4; i++) {
      holder("clients", "249");
    }
    assertThat(beside()).hasSizeGreaterThanOrEqualTo(4 * 249);
    endProcesses();
    try (Client client = new Client(file()).connect()) {
      Patience.until(() -> beside().isEmpty());
      assertThat(Client.get(client.store.list("", Optional.empty())).locks()).isEmpty();
    }
  }
}
