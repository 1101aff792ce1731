// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Makes a file that is missing, for its owner only.
 *
 * <p>It is made whole under another name and then given its own with a link, which exactly one of several processes can
 * do. So nobody ever sees it half made, also not after a crash.
 */
final class SqliteBirth {
  /**
   * Held from the look for the file to the end of its making. Where that is not possible the file is made in place,
   * empty; then another store of this JVM must not find and lock it while our descriptor of it is still to be closed, because
   * that would drop its locks.
   */
  private static final ReentrantLock MAKING = new ReentrantLock();

  private SqliteBirth() {}

  /**
   * Makes the file if there is none.
   *
   * @throws StoreException if this user cannot make it
   * @throws SQLException if the disk does not take it
   */
  static void makeIfMissing(Path path, String store) throws SQLException {
    MAKING.lock();
    try {
      // A link to nowhere is there; opening it gives the better error.
      if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        make(path);
      }
    } catch (AccessDeniedException e) {
      throw new StoreException(
          store + ": this user may not make files in " + path.getParent()
              + "; change the folder's owner or mode, or choose another place",
          Reason.REFUSED,
          true,
          e);
    } catch (FileSystemException e) {
      String why = SqliteFile.reason(e);
      boolean full = why.contains("No space left") || why.contains("quota");
      throw new StoreException(
          store + ": the file cannot be made: " + why
              + (full ? "; make room" : "; make its folder writable, or choose another place"),
          full ? Reason.FULL : Reason.REFUSED,
          true,
          e);
    } catch (IOException e) {
      throw new StoreException(
          store + ": the file cannot be made: " + SqliteFile.reason(e)
              + "; look at its folder, or choose another place",
          Reason.REFUSED,
          true,
          e);
    } finally {
      MAKING.unlock();
    }
  }

  private static void make(Path path) throws IOException, SQLException {
    if (Files.exists(Path.of(path + "-wal"))) {
      // The log of a file that is gone. SQLite deletes it, under its locks, when it finds an empty file beside it.
      makeInPlace(path);
      return;
    }
    // On POSIX systems its mode is 0600.
    Path fresh = Files.createTempFile(path.getParent(), path.getFileName() + ".", ".new");
    try {
      fill(fresh);
      link(path, fresh);
    } finally {
      Files.deleteIfExists(fresh);
    }
  }

  private static void fill(Path fresh) throws SQLException {
    try (SqliteConnection connection = SqliteConnection.open(SqliteFile.uri(fresh, ""))) {
      // Nobody else knows the file, and if we die it is of no use: no journal. But it is on the disk before it gets its
      // name, which SQLite's default of waiting for the disk at a commit sees to.
      connection.execute("PRAGMA journal_mode = MEMORY");
      connection.begin();
      for (String statement : SqliteSchema.statements()) {
        connection.execute(statement);
      }
      connection.commit();
      connection.execute("PRAGMA journal_mode = WAL");
    }
  }

  private static void link(Path path, Path fresh) throws IOException {
    try {
      Files.createLink(path, fresh);
    } catch (FileAlreadyExistsException e) {
      // Another process was faster, and its file is as good.
      return;
    } catch (UnsupportedOperationException | FileSystemException e) {
      makeInPlace(path);
    }
  }

  /** An empty file, which whoever opens it first fills in a transaction. */
  private static void makeInPlace(Path path) throws IOException {
    try {
      if (Files.getFileAttributeView(path.getParent(), PosixFileAttributeView.class) == null) {
        Files.createFile(path);
      } else {
        Files.createFile(
            path,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      }
    } catch (FileAlreadyExistsException e) {
      // Another process was faster.
      return;
    }
  }
}
