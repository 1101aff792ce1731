// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Ticker;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * By what the clients of a database see that one of them has died: its locks are then free at once, and not when their
 * leases have ended.
 *
 * <p>A client that acquires has a file of its own beside the database, and the operating system's lock on it, which ends
 * with the process, however that ends, and not before: also a process that is stopped has it. The records of what the client
 * holds and waits for name the file and its inode. If the lock can be had, the process is dead: what names the file is freed
 * by one statement, and the file deleted. Nobody but the client has ever locked it before, and it does so once, before the
 * file is named.
 *
 * <p>Everything else says nothing, and the lease decides: another boot, since that may be another machine; no file there, or
 * with another inode; one that may not be opened. And a file of this very process, by whichever class loader its client came,
 * is never opened: POSIX drops a process's locks on a file as soon as it closes <em>any</em> descriptor of it.
 *
 * <p>Work that may go on after the process, such as a command that it started, has a mark of its own, a file that is there as
 * long as that is so. It is made by whoever starts the work, and while it is there the lease decides, too.
 */
final class SqliteMarks {
  private static final System.Logger LOG = System.getLogger(SqliteMarks.class.getName());

  /** A client that was seen alive is not looked at again for this long. A look costs some ten microseconds. */
  static final long LOOK_EVERY_US = 250_000;

  private static final int MOST_REMEMBERED = 1000;
  private static final int TRIES = 3;

  private final SqliteOptions options;
  private final String store;
  private final Ticker ticker;
  private final Map<String, Long> seenNanos = new ConcurrentHashMap<>();

  private final ReentrantLock making = new ReentrantLock();
  private volatile boolean made;
  private volatile @Nullable Own own;

  /** The client's own file, locked. */
  private record Own(Path file, String record, FileChannel channel) {}

  /** Another client's file, with the lock that its process had to its end. */
  private record Dead(Path file, SqliteMark mark, String record, FileChannel channel)
      implements AutoCloseable {
    void delete() throws IOException {
      Files.deleteIfExists(file);
    }

    @Override
    public void close() {
      closeQuietly(channel);
    }
  }

  SqliteMarks(SqliteOptions options, String store, Ticker ticker) {
    this.options = options;
    this.store = store;
    this.ticker = ticker;
  }

  /** What names the client's own file in a record, made at the first call; null if its death cannot be noticed. */
  @Nullable
  String own() {
    if (!made) {
      makeOnce();
    }
    Own now = own;
    return now == null ? null : now.record();
  }

  private void makeOnce() {
    making.lock();
    try {
      if (!made) {
        own = SqliteMark.THIS_BOOT == null ? null : make(SqliteMark.THIS_BOOT);
        made = true;
      }
    } finally {
      making.unlock();
    }
  }

  private @Nullable Own make(String boot) {
    try {
      Path database = database();
      if (isOnNetwork(database)) {
        return null;
      }
      for (int i = 0; i < TRIES; i++) {
        String id = Long.toHexString(ThreadLocalRandom.current().nextLong());
        Own fresh =
            make(database, new SqliteMark(boot, SqliteMark.THIS_PROCESS, id, options.workMark()));
        if (fresh != null) {
          return fresh;
        }
      }
      throw new IOException("each new file was taken away at once");
    } catch (IOException | OverlappingFileLockException e) {
      LOG.log(
          Level.WARNING,
          "store=" + store
              + " no file could be made and locked beside the database: if this process dies, what it holds is free only when"
              + " its leases have ended",
          e);
      return null;
    }
  }

  /** Null if a client that cleans up was faster than our lock. */
  private static @Nullable Own make(Path database, SqliteMark mark) throws IOException {
    Path file = beside(database, mark.toString());
    // What others may do with the database they may do with this, or they could not look at it.
    Set<PosixFilePermission> mode = Files.getPosixFilePermissions(database);
    FileChannel channel;
    try {
      channel = FileChannel.open(
          file,
          Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
          PosixFilePermissions.asFileAttribute(mode));
    } catch (FileAlreadyExistsException e) {
      return null;
    }
    boolean done = false;
    try {
      if (channel.tryLock() == null) {
        return null;
      }
      String inode = inode(file);
      if (inode == null) {
        return null;
      }
      // past the umask
      Files.setPosixFilePermissions(file, mode);
      done = true;
      return new Own(file, record(inode, mark), channel);
    } finally {
      if (!done) {
        // Its name is ours alone, and stands in no record.
        Files.deleteIfExists(file);
        closeQuietly(channel);
      }
    }
  }

  /** Says whether the client that a record names has died, as far as that can be known now. */
  boolean isDead(@Nullable String record) {
    if (record == null || wasJustSeen(record)) {
      return false;
    }
    try (Dead dead = dead(record)) {
      return dead != null;
    }
  }

  /**
   * Frees what the client that a record names held and waited for, if it has died. Inside a transaction or not.
   *
   * @return whether it has
   */
  boolean bury(SqliteSession session, @Nullable String record) throws SQLException {
    if (record == null || wasJustSeen(record)) {
      return false;
    }
    try (Dead dead = dead(record)) {
      if (dead == null) {
        return false;
      }
      bury(session, dead);
      return true;
    }
  }

  private void bury(SqliteSession session, Dead dead) throws SQLException {
    long nowUs = SqliteContext.micros(ticker.now());
    int locks = session.locks.endOf(dead.record(), nowUs);
    int waiters = session.queue.endOf(dead.record());
    if (locks + waiters > 0) {
      LOG.log(
          Level.INFO,
          "store={0} a process has died: {1} locks of it are free, {2} waiters gone",
          store,
          locks,
          waiters);
    }
    // If the transaction fails now, the file is missing, and the leases decide.
    try {
      dead.delete();
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "store=" + store + " cannot delete a dead client's file", e);
    }
  }

  private boolean wasJustSeen(String record) {
    Long seen = seenNanos.get(record);
    return seen != null && ticker.nanos() - seen < LOOK_EVERY_US * 1000;
  }

  /** The client, if it is certain that it has died and left no work; to be closed. */
  private @Nullable Dead dead(String record) {
    int space = record.indexOf(' ');
    SqliteMark mark = space < 0 ? null : SqliteMark.parse(record.substring(space + 1));
    if (mark != null && mark.isOfThisBoot()) {
      Dead dead = lock(mark);
      if (dead != null && dead.record().equals(record) && !mayWorkGoOn(dead)) {
        return dead;
      }
      if (dead != null) {
        dead.close();
      }
    }
    if (seenNanos.size() >= MOST_REMEMBERED) {
      seenNanos.clear();
    }
    seenNanos.put(record, ticker.nanos());
    return null;
  }

  /** Takes the lock of another process's file; null if that process has it, or nothing can be said. */
  private @Nullable Dead lock(SqliteMark mark) {
    if (mark.isOfThisProcess()) {
      return null;
    }
    FileChannel channel = null;
    Dead dead = null;
    try {
      Path file = beside(database(), mark.toString());
      if (inode(file) == null) {
        return null;
      }
      channel = FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
      if (channel.tryLock() != null) {
        String inode = inode(file);
        dead = inode == null ? null : new Dead(file, mark, record(inode, mark), channel);
      }
      return dead;
    } catch (IOException | OverlappingFileLockException e) {
      // It may not be opened, or another client of this process looks at it just now.
      LOG.log(Level.TRACE, "store=" + store + " nothing is known of " + mark, e);
      return null;
    } finally {
      if (channel != null && dead == null) {
        closeQuietly(channel);
      }
    }
  }

  private boolean mayWorkGoOn(Dead dead) {
    Path work = workFile(dead);
    return work != null && !Files.notExists(work, LinkOption.NOFOLLOW_LINKS);
  }

  private static @Nullable Path workFile(Dead dead) {
    String name = dead.file().getFileName().toString();
    String work = dead.mark().work();
    String database = name.substring(0, name.length() - dead.mark().toString().length() - 1);
    return work.isEmpty() ? null : dead.file().resolveSibling(database + "." + work + ".work");
  }

  /** Something to do with a session. */
  @FunctionalInterface
  interface Session {
    void with(SqliteLane.Work<Boolean> work);
  }

  /**
   * Frees what dead clients held and waited for, and deletes what they left behind: also that of clients that held nothing,
   * or died when the machine did.
   *
   * @param session opens one, if there is anything to do
   */
  void clean(Session session) {
    List<SqliteMark> found;
    try {
      found = isOnNetwork(database()) ? List.of() : find(database());
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "store=" + store + " cannot look for dead clients", e);
      return;
    }
    for (SqliteMark mark : found) {
      try (Dead dead = lock(mark)) {
        if (dead != null) {
          session.with(opened -> clean(opened, dead));
        }
      }
    }
  }

  private boolean clean(SqliteSession session, Dead dead) throws SQLException {
    boolean isCertain = dead.mark().isOfThisBoot() && !mayWorkGoOn(dead);
    if (!isCertain && session.locks.isNamed(dead.record(), SqliteContext.micros(ticker.now()))) {
      return false;
    }
    Path work = workFile(dead);
    try {
      if (work != null) {
        // first: without the client's file it would not be found
        Files.deleteIfExists(work);
      }
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "store=" + store + " cannot delete " + work, e);
    }
    bury(session, dead);
    return true;
  }

  private static List<SqliteMark> find(Path database) throws IOException {
    String prefix = database.getFileName() + ".";
    List<SqliteMark> found = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(
        database.resolveSibling(""), path -> path.getFileName().toString().startsWith(prefix))) {
      for (Path file : files) {
        SqliteMark mark =
            SqliteMark.parse(file.getFileName().toString().substring(prefix.length()));
        if (mark != null) {
          found.add(mark);
        }
      }
    }
    return found;
  }

  /** Deletes the client's own file. What it has not released is then left to its lease: the process goes on. */
  void close() {
    making.lock();
    try {
      made = true;
      Own file = own;
      own = null;
      if (file != null) {
        // while it is locked
        Files.deleteIfExists(file.file());
        file.channel().close();
      }
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "store=" + store + " cannot delete the client's file", e);
    } finally {
      making.unlock();
    }
  }

  private Path database() throws IOException {
    return options.path().toRealPath();
  }

  private boolean isOnNetwork(Path database) {
    return SqliteFile.fileSystem(database).filter(SqliteFile::isNetwork).isPresent();
  }

  private static Path beside(Path database, String suffix) {
    return database.resolveSibling(database.getFileName() + "." + suffix);
  }

  private static String record(String inode, SqliteMark mark) {
    return inode + " " + mark;
  }

  /** The device and inode that a path leads to; null if that is no file. */
  private static @Nullable String inode(Path file) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return null;
    }
    Map<String, Object> attributes =
        Files.readAttributes(file, "unix:dev,ino", LinkOption.NOFOLLOW_LINKS);
    return attributes.get("dev") + ":" + attributes.get("ino");
  }

  private static void closeQuietly(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "cannot close a client's file", e);
    }
  }
}
