// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.SizeText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Looks at the file with an operator's eyes. Never opens it but through SQLite: see {@link SqliteFile}. */
final class SqliteDoctor {
  private static final long LARGE_LOG_BYTES = 64L << 20;
  private static final long LITTLE_ROOM_BYTES = 16L << 20;
  private static final long CHECK_UP_TO_BYTES = 256L << 20;
  private static final long CLOCK_SLACK_US = 1_000_000;

  private final SqliteContext context;
  private final Path path;
  private final List<Finding> findings = new ArrayList<>();

  SqliteDoctor(SqliteContext context) {
    this.context = context;
    path = context.options().path();
  }

  List<Finding> look(SqliteSession session) throws SQLException {
    SqliteConnection connection = session.connection;
    ok(
        "SQLite",
        connection.text("SELECT sqlite_version()") + ", format "
            + connection.number("PRAGMA user_version"));
    String mode = connection.text("PRAGMA journal_mode");
    add(
        mode.equals("wal") ? Level.OK : Level.PROBLEM,
        "journal mode",
        mode,
        mode.equals("wal")
            ? ""
            : "close all users of the file and start one again: it switches to wal");
    try {
      fileSystem();
      permissions();
      sizes();
      deaths();
    } catch (IOException e) {
      add(
          Level.WARNING,
          "file",
          "cannot be looked at: " + SqliteFile.reason(e),
          "check the file and its folder");
    }
    contents(connection);
    clock(connection);
    return List.copyOf(findings);
  }

  private void fileSystem() throws IOException {
    Optional<String> type = SqliteFile.fileSystem(path);
    boolean network = type.isPresent() && SqliteFile.isNetwork(type.get());
    add(
        network ? Level.PROBLEM : Level.OK,
        "file system",
        type.orElse("unknown"),
        network
            ? "move the file to a local file system: locks do not exclude other machines here"
            : "");
    if (Files.getFileAttributeView(path, PosixFileAttributeView.class) != null) {
      Object links = Files.getAttribute(path, "unix:nlink");
      if (links instanceof Integer count && count > 1) {
        add(
            Level.WARNING,
            "file",
            "has " + count + " names (hard links)",
            "use it under one name only: under another one, SQLite has another log, and the locks do not exclude");
      }
    }
  }

  private void deaths() throws IOException {
    ok(
        "death of a process",
        context.liveness().noticesDeaths()
            ? "is noticed: its locks are free at once"
            : "is not noticed here (needs Linux and a local file system): its locks are free when their leases end");
  }

  private void permissions() throws IOException {
    if (Files.getFileAttributeView(path, PosixFileAttributeView.class) == null) {
      return;
    }
    Set<PosixFilePermission> mode = Files.getPosixFilePermissions(path);
    boolean open = mode.contains(PosixFilePermission.OTHERS_WRITE)
        || mode.contains(PosixFilePermission.OTHERS_READ);
    add(
        open ? Level.WARNING : Level.OK,
        "permissions",
        PosixFilePermissions.toString(mode) + " " + Files.getOwner(path).getName(),
        open
            ? "chmod o-rw: a user who can read the file can block its users, one who can write it can take any lock"
            : "");
  }

  private void sizes() throws IOException {
    Path log = path.resolveSibling(path.getFileName() + "-wal");
    long bytes = Files.exists(log) ? Files.size(log) : 0;
    add(
        bytes > LARGE_LOG_BYTES ? Level.WARNING : Level.OK,
        "size",
        SizeText.of(Files.size(path)) + ", log " + SizeText.of(bytes),
        bytes > LARGE_LOG_BYTES
            ? "a program reads the file without end and keeps the log from being written back: find it (fuser, lsof)"
            : "");
    long room = Files.getFileStore(path).getUsableSpace();
    add(
        room < LITTLE_ROOM_BYTES ? Level.WARNING : Level.OK,
        "room on the disk",
        SizeText.of(room),
        room < LITTLE_ROOM_BYTES
            ? "make room: without any, no lock can be acquired or renewed"
            : "");
  }

  private void contents(SqliteConnection connection) throws SQLException {
    if (connection.number("PRAGMA page_count") * connection.number("PRAGMA page_size")
        <= CHECK_UP_TO_BYTES) {
      String found = connection.text("PRAGMA quick_check(1)");
      add(
          found.equals("ok") ? Level.OK : Level.PROBLEM,
          "contents",
          found,
          found.equals("ok")
              ? ""
              : "stop its users and move the file away with its -wal file; holds in it are forgotten then");
    }
    long nowUs = SqliteContext.micros(context.now());
    long oldUs = nowUs - context.options().retention().toMillis() * 1000;
    long all = connection.number("SELECT count(*) FROM holdfast_lock");
    long taken = connection.number("SELECT count(*) FROM holdfast_lock WHERE until_us > " + nowUs);
    long old = connection.number(
        "SELECT count(*) FROM holdfast_lock WHERE until_us <= " + nowUs + " AND rev < " + oldUs);
    long waiters =
        connection.number("SELECT count(*) FROM holdfast_waiter WHERE until_us > " + nowUs);
    ok(
        "locks",
        taken + " taken, " + waiters + " fair waiters, " + all + " rows, " + old
            + " of them past retention (deleted once an hour)");
  }

  private void clock(SqliteConnection connection) throws SQLException {
    long aheadUs = connection.number("SELECT coalesce(max(rev), 0) FROM holdfast_lock")
        - SqliteContext.micros(context.now());
    boolean back = aheadUs > CLOCK_SLACK_US;
    add(
        back ? Level.WARNING : Level.OK,
        "clock",
        back
            ? "is " + aheadUs / 1_000_000 + " s behind the last change of a lock in the file"
            : "has not been set back since the last change of a lock",
        back
            ? "it was set back: tokens still grow, but leases from before end that much later"
            : "");
  }

  private void ok(String subject, String message) {
    add(Level.OK, subject, message, "");
  }

  private void add(Level level, String subject, String message, String advice) {
    findings.add(new Finding(level, subject, message, advice));
  }
}
