// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.LockStore;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteJDBCLoader;

/** A file of its own for each test. */
final class SqliteUnderTest implements StoreUnderTest {
  private final Path folder;
  private final Path file;
  private @Nullable Connection writer;

  SqliteUnderTest() {
    try {
      folder = Files.createTempDirectory("holdfast-contract");
      file = folder.resolve("locks.db");
    } catch (IOException e) {
      throw new UncheckedIOException("no folder for the test", e);
    }
  }

  @Override
  public String version() {
    return "sqlite-jdbc " + SQLiteJDBCLoader.getVersion();
  }

  @Override
  public String provision() {
    return "in this JVM";
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public LockStore open() {
    return SqliteStore.open(file);
  }

  @Override
  public String uri() {
    return "sqlite:" + file;
  }

  @Override
  public boolean noticesDeath() {
    return SqliteClientFile.THIS_BOOT != null;
  }

  /** All clients are closed, so the file is all there is: it is moved, so that nothing else can be. */
  @Override
  public void restart() {
    try {
      for (String suffix : List.of("", "-wal", "-shm")) {
        Path part = folder.resolve("locks.db" + suffix);
        if (Files.exists(part)) {
          Path moved = folder.resolve("moved" + suffix);
          Files.move(part, moved);
          Files.copy(moved, part);
          Files.delete(moved);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the file could not be moved", e);
    }
  }

  /** Somebody writes to the file and does not end: everybody else who wants to write has to wait. */
  @Override
  public void stall() {
    try {
      Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
      writer = connection;
      try (Statement statement = connection.createStatement()) {
        statement.execute("PRAGMA busy_timeout = 10000");
        statement.execute("BEGIN IMMEDIATE");
      }
    } catch (SQLException e) {
      throw new IllegalStateException("the file could not be locked", e);
    }
  }

  @Override
  public void resume() {
    try {
      if (writer != null) {
        writer.close();
      }
    } catch (SQLException e) {
      throw new IllegalStateException("the file could not be unlocked", e);
    }
  }

  @Override
  public void close() {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the folder could not be removed", e);
    }
  }
}
