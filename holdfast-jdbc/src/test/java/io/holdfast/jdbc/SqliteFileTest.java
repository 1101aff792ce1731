// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ConfigurationException;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.Stores;
import io.holdfast.testkit.log.Warns;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.Charset;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What may be at the path, and what becomes of it. */
class SqliteFileTest {
  @TempDir
  private Path folder;

  /** Made for its owner alone, and the files beside it too. */
  @Test
  void aMissingFile_isMade() throws IOException {
    Path file = folder.resolve("new.db");
    try (Client client = new Client(file).connect()) {
      client.granted(client.claim("a"));
      try (Stream<Path> all = Files.list(folder)) {
        assertThat(all)
            .hasSizeGreaterThan(1)
            .allSatisfy(path -> assertThat(
                    PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                .isEqualTo("rw-------"));
      }
    }
    assertThat(folder)
        .isDirectoryContaining(path -> path.equals(file))
        .isDirectoryNotContaining("glob:**-wal");
  }

  @Test
  void anEmptyFile_isFilled_andKeepsItsMode() throws IOException {
    Path file = Files.createFile(folder.resolve("empty.db"));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw----"));
    try (Client client = new Client(file).connect()) {
      client.granted(client.claim("a"));
    }
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-rw----");
  }

  /** Nothing in a path is taken for a parameter, an escape or a special name. */
  @ParameterizedTest
  @ValueSource(
      strings = {"with blank.db", "100%41.db", "caf\u00e9 \u9501.db", "a&b=c#d.db", "it's.db"})
  void anyPath_isTakenAsItIs(String name) {
    Assumptions.assumeTrue(
        Charset.forName(System.getProperty("sun.jnu.encoding")).newEncoder().canEncode(name),
        "this locale has no such file names");
    try (Client client = new Client(folder.resolve(name)).connect()) {
      client.granted(client.claim("a"));
      assertThat(folder.resolve(name)).exists();
    }
  }

  @Test
  void aQuestionMarkInAPath_isPossibleThroughTheJavaApi() {
    Path file = folder.resolve("what?.db");
    SqliteStore store = SqliteStore.open(file);
    assertThat(store.describe()).isEqualTo("sqlite:" + file);
    assertThat(SqliteFile.uri(file, "")).endsWith("what%3F.db");
  }

  @Test
  void holdsAndTokens_surviveARestart() {
    Path file = folder.resolve("locks.db");
    Claim held;
    long revision;
    try (Client client = new Client(file).connect()) {
      held = client.claim("a");
      revision = client.granted(held).revision();
      Claim released = client.claim("b");
      client.granted(released);
      client.end(released);
    }
    try (Client client = new Client(file).connect()) {
      client.busy(client.claim("a"));
      assertThat(client.keep(held)).isInstanceOf(Kept.Held.class);
      client.end(held);
      assertThat(client.granted(client.claim("a")).revision()).isGreaterThan(revision);
    }
  }

  @Test
  void aMissingFolder_isRefused() {
    refused(
        ConfigurationException.class,
        folder.resolve("no/such/locks.db"),
        "does not exist",
        "mkdir");
    assertThat(folder.resolve("no")).doesNotExist();
  }

  @Test
  void aFolder_isRefused() {
    refused(ConfigurationException.class, folder, "is a folder", "name a file in it");
  }

  /** A pipe, a device, a socket. */
  @Test
  void whatIsNoRegularFile_isRefused() throws Exception {
    Path pipe = folder.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    refused(ConfigurationException.class, pipe, "is no regular file", "name a file");
    refused(ConfigurationException.class, Path.of("/dev/null"), "is no regular file");
  }

  @Test
  void aFileThatIsNoDatabase_isRefusedAndNotTouched() throws IOException {
    for (String content : List.of("x", "just some notes, nothing more\n".repeat(100))) {
      Path file = folder.resolve("notes.txt");
      Files.writeString(file, content);
      refusedUntouched(file, "no SQLite file", "move the file away");
    }
  }

  @Test
  void anotherProgramsDatabase_isRefusedAndNotTouched() throws Exception {
    Path file = folder.resolve("other.db");
    sql(file, "CREATE TABLE customer (id INTEGER)");
    refusedUntouched(file, "another program");
    Path marked = folder.resolve("marked.db");
    sql(marked, "PRAGMA application_id = 77");
    refusedUntouched(marked, "another program");
  }

  /** Its tables may still be in the log beside it. */
  @Test
  void anotherProgramsDatabaseInUse_isRefused() throws Exception {
    Path file = folder.resolve("other.db");
    try (Connection other = connection(file)) {
      try (Statement statement = other.createStatement()) {
        statement.execute("PRAGMA journal_mode = WAL");
        statement.execute("CREATE TABLE customer (id INTEGER)");
      }
      refused(StoreException.class, file, "another program");
    }
  }

  /** Its program crashed: what it had not yet written back is its own business. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anotherProgramsLog_isLeftAlone(boolean tableInTheFile) throws Exception {
    Path live = folder.resolve("live.db");
    Path file = folder.resolve("crashed.db");
    try (Connection other = connection(live);
        Statement statement = other.createStatement()) {
      if (tableInTheFile) {
        statement.execute("CREATE TABLE supplier (id INTEGER)");
      }
      statement.execute("PRAGMA journal_mode = WAL");
      statement.execute("CREATE TABLE customer (id INTEGER)");
      Files.copy(live, file);
      Files.copy(Path.of(live + "-wal"), Path.of(file + "-wal"));
    }
    byte[] before = Files.readAllBytes(file);
    byte[] log = Files.readAllBytes(Path.of(file + "-wal"));

    refused(StoreException.class, file, "another program");

    assertThat(Files.readAllBytes(file)).isEqualTo(before);
    assertThat(Files.readAllBytes(Path.of(file + "-wal"))).isEqualTo(log);
  }

  @Test
  void aNewerFormat_isRefusedAndNotTouched() throws Exception {
    Path file = folder.resolve("newer.db");
    new Client(file).connect().close();
    sql(file, "PRAGMA user_version = 3");
    refusedUntouched(file, "format 3", "newer Holdfast");
  }

  @Test
  void ourFileWithoutItsTables_isRefused() throws Exception {
    Path file = folder.resolve("gone.db");
    new Client(file).connect().close();
    sql(file, "DROP VIEW holdfast_taken", "DROP TABLE holdfast_lock");
    refusedUntouched(file, "damaged", "not those of format 2");
  }

  @Test
  void aDamagedFile_isRefusedAndNotTouched() throws Exception {
    Path file = folder.resolve("damaged.db");
    try (Client client = new Client(file).connect()) {
      for (int i = 0; i < 100; i++) {
        client.granted(client.claim("lock-" + i));
      }
    }
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      for (long page = 4096; page < bytes.length(); page += 4096) {
        bytes.seek(page);
        bytes.write(new byte[2000]);
      }
    }
    refusedUntouched(file, "damaged", "move it away");
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.setLength(6000);
    }
    refusedUntouched(file, "damaged", "move it away");
  }

  /** Its first page is there already, and says that there are more: it is no damaged file. */
  @Test
  void aFileThatItsLogIsBeingCopiedInto_isOpened() throws Exception {
    Path live = folder.resolve("live.db");
    Path file = folder.resolve("copied.db");
    try (Client client = new Client(live).connect();
        Connection connection = DriverManager.getConnection("jdbc:sqlite:" + live);
        Statement statement = connection.createStatement()) {
      client.granted(client.claim("a"));
      statement.execute("PRAGMA wal_checkpoint(TRUNCATE)");
      statement.execute("PRAGMA wal_autocheckpoint = 0");
      statement.execute("CREATE TABLE more AS SELECT randomblob(100000) AS bytes");
      statement.execute("DROP TABLE more");
      Files.copy(live, file);
      Files.copy(Path.of(live + "-wal"), Path.of(file + "-wal"));
    }
    byte[] log = Files.readAllBytes(Path.of(file + "-wal"));
    ByteBuffer frames = ByteBuffer.wrap(log);
    int page = frames.getInt(8);
    byte[] first = new byte[0];
    for (int at = 32; at + 24 + page <= log.length; at += 24 + page) {
      if (frames.getInt(at) == 1) {
        first = Arrays.copyOfRange(log, at + 24, at + 24 + page);
      }
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(first), 0);
    }
    try (Client client = new Client(file).connect()) {
      client.granted(client.claim("b"));
    }
  }

  /** It is there, but it does not lead anywhere. */
  @Test
  void aLinkToNowhere_isRefused() throws IOException {
    Path link = Files.createSymbolicLink(folder.resolve("link.db"), folder.resolve("no/such.db"));
    refused(StoreException.class, link, "cannot be opened");
  }

  @ParameterizedTest
  @CsvSource({
    "nfs, true",
    "nfs4, true",
    "cifs, true",
    "smb3, true",
    "fuse.sshfs, true",
    "9p, true",
    "smbfs, true",
    "virtiofs, true",
    "vboxsf, true",
    "ext4, false",
    "xfs, false",
    "btrfs, false",
    "tmpfs, false",
    "overlay, false",
    "apfs, false",
    "fuseblk, false"
  })
  void networkFileSystems_areKnown(String type, boolean network) {
    assertThat(SqliteFile.isNetwork(type)).isEqualTo(network);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sqlite:|names no file",
        "sqlite::memory:|use memory:",
        "sqlite:file:a.db|plain path",
        "sqlite:a.db?cache=shared|only holdfast.*",
        "sqlite:a.db?holdfast.retain=1h|unknown parameter holdfast.retain",
        "sqlite:a.db?holdfast.retention=soon|no duration",
        "sqlite:a.db?holdfast.retention=1s|from 1 min",
        "sqlite:a.db?holdfast.poll=1h|to 10 s",
        "jdbc:sqlite:a.db?holdfast.network-file=yes|only be \"allow\""
      })
  void aWrongAddress_isRefused(String address, String why) {
    assertThatThrownBy(() -> new SqliteStoreFactory().open(StoreAddress.parse(address)))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining(why);
  }

  @Test
  void anAddressWithParameters_isTaken() {
    String address = "jdbc:sqlite:" + folder.resolve("p.db")
        + "?holdfast.retention=7d&holdfast.poll=5ms&holdfast.network-file=allow";
    try (Client client = new Client(address, Ticker.system()).connect()) {
      assertThat(client.store.traits().pollAtMost()).isEqualTo(Duration.ofMillis(5));
      assertThat(client.store.describe()).doesNotContain("?");
    }
  }

  /** Everybody who starts at once finds one whole file, whether it is missing or empty; nothing else is left behind. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void manyMayMakeItAtOnce(boolean emptyFile) throws Exception {
    int many = 8;
    ExecutorService threads = Executors.newFixedThreadPool(many);
    try {
      for (int round = 0; round < 5; round++) {
        Path file = folder.resolve("race-" + round + ".db");
        if (emptyFile) {
          Files.createFile(file);
        }
        CountDownLatch all = new CountDownLatch(many);
        List<Future<Boolean>> granted = new ArrayList<>();
        for (int i = 0; i < many; i++) {
          granted.add(threads.submit(() -> {
            try (Client client = new Client(file)) {
              all.countDown();
              all.await();
              client.connect();
              return client.attempt(client.claim("a"), Mode.TRY)
                  instanceof io.holdfast.spi.Answer.Granted;
            }
          }));
        }
        int won = 0;
        for (Future<Boolean> each : granted) {
          won += each.get() ? 1 : 0;
        }
        assertThat(won).isEqualTo(1);
        // Of connections that are closed at the same instant, SQLite takes none for the last one; the next removes its log.
        new Client(file).connect().close();
        try (Stream<Path> left = Files.list(folder)) {
          assertThat(left).hasSize(round + 1);
        }
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** Two files must not look like one lock for longer than need be: the next renewal tells the old holder. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Warns("was deleted or replaced")
  void aReplacedFile_isNoticed(boolean withItsLog) throws IOException {
    Path file = folder.resolve("locks.db");
    try (Client old = new Client(file).connect()) {
      Claim held = old.claim("a");
      long revision = old.granted(held).revision();
      // renewals have a connection of their own, which is open from now on
      assertThat(old.keep(held)).isInstanceOf(Kept.Held.class);
      for (String end : withItsLog ? List.of("", "-wal", "-shm") : List.of("")) {
        Files.delete(Path.of(file + end));
      }
      try (Client other = new Client(file).connect()) {
        assertThat(other.granted(other.claim("a")).revision()).isGreaterThan(revision);

        assertThat(old.keep(held)).isInstanceOf(Kept.Gone.class);
        assertThat(old.keep(held)).isInstanceOf(Kept.Gone.class);
        assertThat(Client.get(other.store.inspect(held.name()))).isPresent();
      }
    }
  }

  /** Who only acquires and releases notices within a second of its clock. */
  @Test
  @Warns("was deleted or replaced")
  void aReplacedFile_isNoticedByAttemptsToo() throws IOException {
    Path file = folder.resolve("locks.db");
    ManualTicker ticker = new ManualTicker();
    try (Client old = new Client(file, ticker).connect()) {
      old.granted(old.claim("a"));
      for (String end : List.of("", "-wal", "-shm")) {
        Files.delete(Path.of(file + end));
      }
      ticker.advance(Duration.ofSeconds(1));
      try (Client other = new Client(file, ticker).connect()) {
        other.granted(other.claim("b"));
        old.busy(old.claim("b"));
        assertThat(old.toldAll).hasPositiveValue();
      }
    }
  }

  /** Rows of locks that were not used for the retention go; all others stay, whatever their state. */
  @Test
  void oldRows_areDeletedAfterTheRetention() throws Exception {
    Path file = folder.resolve("locks.db");
    ManualTicker ticker = new ManualTicker();
    try (Client client = new Client(file, ticker).connect()) {
      for (int i = 0; i < 1200; i++) {
        Claim claim = client.claim("old-" + i);
        client.granted(claim);
        client.end(claim);
      }
      client.granted(client.claim("held", Duration.ofDays(30), false));
      ticker.advance(Duration.ofHours(25));
      Claim recent = client.claim("recent");
      client.granted(recent);
      client.end(recent);
    }
    try (Client client = new Client(file, ticker).connect()) {
      Patience.until(() -> rows(file).equals(List.of("held", "recent")));
      client.busy(client.claim("held"));
    }
  }

  /** However many there are, and those of waiters that died too, for whose lock nobody may ever wait again. */
  @Test
  void everythingOld_isDeleted() throws Exception {
    Path file = folder.resolve("locks.db");
    ManualTicker ticker = new ManualTicker();
    try (Client holder = new Client(file, ticker).connect();
        Client waiter = new Client(file, ticker).connect()) {
      holder.granted(holder.claim("last"));
      waiter.busy(waiter.fair("last"));
    }
    sql(
        file,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)"
            + " INSERT INTO holdfast_lock (name, rev, since_us, until_us) SELECT 'job-' || i, i, i, 0 FROM n",
        "UPDATE holdfast_meta SET cleaned_us = 0");
    ticker.advance(Duration.ofHours(25));
    try (Client client = new Client(file, ticker).connect()) {
      Patience.until(() -> rows(file).isEmpty());
      Patience.until(() -> names(file, "holdfast_waiter").isEmpty());
      client.granted(client.claim("last"));
    }
  }

  private static List<String> rows(Path file) {
    return names(file, "holdfast_lock");
  }

  private static List<String> names(Path file, String table) {
    List<String> names = new ArrayList<>();
    try (Connection connection = connection(file);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT name FROM " + table + " ORDER BY name")) {
      while (row.next()) {
        names.add(row.getString(1));
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
    return names;
  }

  /** With plain SQL, who holds what. */
  @Test
  void operators_canReadIt() throws Exception {
    Path file = folder.resolve("locks.db");
    try (Client client = new Client(file).connect()) {
      client.granted(client.claim("nightly"));
      try (Connection connection = connection(file);
          Statement statement = connection.createStatement();
          ResultSet row = statement.executeQuery(
              "SELECT state, client, host, pid, thread, note, since_utc, seconds_left FROM holdfast_taken")) {
        assertThat(row.next()).isTrue();
        assertThat(row.getString(1)).isEqualTo("held");
        assertThat(row.getString(2)).isEqualTo("tester");
        assertThat(row.getString(3)).isEqualTo("host-1");
        assertThat(row.getLong(4)).isEqualTo(4711);
        assertThat(row.getString(5)).isEqualTo("main");
        assertThat(row.getString(6)).isEqualTo("a note");
        assertThat(row.getString(7)).startsWith("20");
        assertThat(row.getDouble(8)).isBetween(0.1, 30.0);
      }
    }
  }

  /** What ddl prints makes what we would make. */
  @Test
  void theSchemaByHand_isTaken() throws Exception {
    Path file = folder.resolve("hand.db");
    sql(file, SqliteStore.open(file).schema().toArray(String[]::new));
    try (Client client = new Client(file).connect()) {
      client.granted(client.claim("a"));
    }
  }

  @Test
  void doctor_findsNothingWrongWithAGoodFile_andTellsOfAClockSetBack() {
    Path file = folder.resolve("locks.db");
    ManualTicker ticker = new ManualTicker();
    try (Client client = new Client(file, ticker).connect()) {
      client.granted(client.claim("a"));
      List<Finding> findings = Client.get(client.store.diagnose());
      assertThat(findings)
          .extracting(Finding::subject)
          .contains(
              "SQLite", "journal mode", "file system", "permissions", "contents", "locks", "clock");
      assertThat(findings).allMatch(finding -> finding.level() == Finding.Level.OK);
      assertThat(findings)
          .filteredOn(finding -> finding.subject().equals("clock"))
          .extracting(Finding::message)
          .containsExactly("has not been set back since the last change of a lock");

      ticker.stepWall(Duration.ofHours(-1));
      assertThat(Client.get(client.store.diagnose()))
          .anyMatch(
              finding -> finding.subject().equals("clock") && finding.message().contains("behind"));
    }
  }

  @Test
  void whyTheSystemRefused_isSaidInWords() {
    assertThat(SqliteFile.reason(new AccessDeniedException("a"))).isEqualTo("permission denied");
    assertThat(SqliteFile.reason(new NoSuchFileException("a"))).isEqualTo("no such file");
    assertThat(SqliteFile.reason(new FileSystemException("a", null, "No space left on device")))
        .isEqualTo("No space left on device");
    assertThat(SqliteFile.reason(new IOException("cut off"))).isEqualTo("cut off");
    assertThat(SqliteFile.reason(new IOException())).isEqualTo("the system gives no reason");
  }

  /** A store that only looks opens what is there, and makes nothing. */
  @Test
  void openExisting_makesNoFile_andOpensOneThatIsThere() {
    Path file = folder.resolve("locks.db");
    Holdfast.Builder looks = Holdfast.builder().store(Stores.openExisting("sqlite:" + file));
    assertThatThrownBy(() -> looks.build().close())
        .isInstanceOfSatisfying(
            StoreUnavailableException.class,
            e -> assertThat(e.reason()).isEqualTo(Reason.UNREACHABLE))
        .hasMessage("store sqlite:" + file
            + ": no such file; check the path, or let \"holdfast run\" create it");
    assertThat(folder).isEmptyDirectory();

    try (Client client = new Client(file).connect()) {
      client.granted(client.claim("a"));
      try (Holdfast looking =
          Holdfast.builder().store(Stores.openExisting("sqlite:" + file)).build()) {
        assertThat(looking.admin().list("")).hasSize(1);
      }
    }
  }

  private void refusedUntouched(Path file, String... words) throws IOException {
    FileTime long_ago = FileTime.fromMillis(1_000_000_000_000L);
    Files.setLastModifiedTime(file, long_ago);
    byte[] before = Files.readAllBytes(file);

    StoreException e = refused(StoreException.class, file, words);

    assertThat(e.reason()).isEqualTo(Reason.DAMAGED);
    assertThat(e.notApplied()).isTrue();
    assertThat(Files.readAllBytes(file)).isEqualTo(before);
    assertThat(Files.getLastModifiedTime(file)).isEqualTo(long_ago);
    assertThat(Path.of(file + "-wal")).doesNotExist();
    assertThat(Path.of(file + "-shm")).doesNotExist();
  }

  private static <E extends RuntimeException> E refused(Class<E> type, Path file, String... words) {
    try (Client client = new Client(file)) {
      RuntimeException e =
          org.junit.jupiter.api.Assertions.assertThrows(RuntimeException.class, client::connect);
      assertThat(e)
          .isInstanceOf(type)
          .hasMessageContainingAll(words)
          .hasMessageContaining(file.toString());
      return type.cast(e);
    }
  }

  private static void sql(Path file, String... statements) throws SQLException {
    try (Connection connection = connection(file);
        Statement statement = connection.createStatement()) {
      for (String each : statements) {
        statement.execute(each);
      }
    }
  }

  private static Connection connection(Path file) throws SQLException {
    return DriverManager.getConnection("jdbc:sqlite:" + file);
  }
}
