// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Ticker;
import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
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
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Detects that the process of a client has died, and frees its locks before their leases end.
 *
 * <p>A client that acquires has a file of its own beside the database, and the operating system's lock on it, which ends
 * with the process, however that ends, and not before: a process that is stopped has it, too. The client takes this lock once,
 * before any row names the file; the rows of what the client holds and waits for name the file and its inode. If another
 * client gets the lock, the process is dead: all rows that name the file are freed, and once none is left the file is deleted.
 *
 * <p>If the death is not certain, the lease decides: in another boot, which may be another machine; if there is no file, or
 * one with another inode; if it may not be opened. A file of this very process, by whichever class loader its client came, is
 * never opened: POSIX drops a process's locks on a file as soon as the process closes <em>any</em> descriptor of it.
 *
 * <p>Work that may outlive the process, such as a command that it started, has a file of its own, which exists from before
 * the work begins until it has ended. While it exists the lease decides, too.
 */
final class SqliteLiveness {
  /** A client that was not found dead is not checked again for this long. A check costs some ten microseconds. */
  static final long LOOK_EVERY_US = 250_000;

  private static final System.Logger LOG = System.getLogger(SqliteLiveness.class.getName());
  private static final int MOST_REMEMBERED = 1000;

  /**
   * Held from the lock of another process's file to the end of what is done with it: of two threads of this process that check
   * the same file, the first to close it would drop the other's lock, too.
   */
  private static final ReentrantLock CHECKING = new ReentrantLock();

  private static final int TRIES = 3;

  private final SqliteOptions options;
  private final String store;
  private final Ticker ticker;

  /** When a client was last checked, by its id. */
  private final Map<String, Long> checkedNanos = new ConcurrentHashMap<>();

  private final ReentrantLock making = new ReentrantLock();
  private volatile boolean made;
  private volatile @Nullable Own own;

  /** Reads from a row which file its client has; null or empty if it names none. */
  @FunctionalInterface
  interface FileOfRow {
    @Nullable
    String get() throws SQLException;
  }

  /** The client's own file, locked. */
  private record Own(Path path, String inRows, RandomAccessFile opened) {}

  /** The file of a client whose process has died, with the lock that it had. */
  private record Dead(Path path, SqliteClientFile file, String inRows, FileChannel channel)
      implements AutoCloseable {
    @Override
    public void close() {
      closeQuietly(channel);
      CHECKING.unlock();
    }

    /** The file that says that work may have outlived the process; null if there never was one. */
    @Nullable
    Path work() {
      String name = path.getFileName().toString();
      String database = name.substring(0, name.length() - file.toString().length());
      return file.work().isEmpty() ? null : path.resolveSibling(database + file.work() + ".work");
    }

    boolean hasWork() {
      Path work = work();
      return work != null && !Files.notExists(work, LinkOption.NOFOLLOW_LINKS);
    }
  }

  SqliteLiveness(SqliteOptions options, String store, Ticker ticker) {
    this.options = options;
    this.store = store;
    this.ticker = ticker;
  }

  /** The client's own file as rows name it, made at the first call; null if others could not detect this client's death. */
  @Nullable
  String own() {
    if (!made) {
      makeOnce();
    }
    Own now = own;
    return now == null ? null : now.inRows();
  }

  /** Whether the death of a client is noticed here. */
  boolean noticesDeaths() throws IOException {
    return SqliteClientFile.THIS_BOOT != null
        && SqliteClientFile.THIS_PROCESS != null
        && !isOnNetwork(database());
  }

  private void makeOnce() {
    making.lock();
    try {
      if (!made) {
        String boot = SqliteClientFile.THIS_BOOT;
        String process = SqliteClientFile.THIS_PROCESS;
        own = boot == null || process == null ? null : make(boot, process);
        made = true;
      }
    } finally {
      making.unlock();
    }
  }

  private @Nullable Own make(String boot, String process) {
    try {
      Path database = database();
      if (isOnNetwork(database)) {
        return null;
      }
      for (int i = 0; i < TRIES; i++) {
        String id =
            String.format(Locale.ROOT, "%08x", ThreadLocalRandom.current().nextInt());
        Own fresh = make(database, new SqliteClientFile(boot, process, id, options.workId()));
        if (fresh != null) {
          return fresh;
        }
      }
      throw new IOException("another client took each new file away at once");
    } catch (IOException | OverlappingFileLockException e) {
      LOG.log(
          Level.WARNING,
          "store=" + store
              + " no file could be made and locked beside the database: if this process dies, its locks are free only when"
              + " their leases end",
          e);
      return null;
    }
  }

  /**
   * Null if a client that cleans was faster than our lock. Nothing here is interruptible: an interrupt of the thread would
   * close an interruptible channel, and the lock would be gone.
   */
  private static @Nullable Own make(Path database, SqliteClientFile file) throws IOException {
    Path path = beside(database, file.toString());
    // A process that may use the database may check this client.
    Set<PosixFilePermission> mode = Files.getPosixFilePermissions(database);
    try {
      Files.createFile(path, PosixFilePermissions.asFileAttribute(mode));
    } catch (FileAlreadyExistsException e) {
      return null;
    }
    RandomAccessFile opened = null;
    boolean done = false;
    try {
      opened = new RandomAccessFile(path.toFile(), "rw");
      if (opened.getChannel().tryLock() == null) {
        return null;
      }
      // An empty file proves nothing about its client, which may not have locked it yet.
      opened.write('\n');
      String inode = inode(path);
      if (inode == null) {
        return null;
      }
      // the umask may have removed permissions; a file system without any of its own refuses to set them
      if (!Files.getPosixFilePermissions(path).equals(mode)) {
        Files.setPosixFilePermissions(path, mode);
      }
      done = true;
      return new Own(path, inRows(inode, file), opened);
    } finally {
      if (!done) {
        // The name is of this client alone, and no row has it.
        Files.deleteIfExists(path);
        if (opened != null) {
          closeQuietly(opened);
        }
      }
    }
  }

  /**
   * Says whether the client of a claim has certainly died; for {@link #LOOK_EVERY_US} after one check, no.
   *
   * @param claim the claim's id
   * @param file reads the client's file from the claim's row
   */
  boolean isDead(String claim, FileOfRow file) throws SQLException {
    try (Dead dead = check(claim, file)) {
      return dead != null;
    }
  }

  /**
   * Frees what the client of a claim held and waited for if it has certainly died; within a transaction or not. Its file
   * stays: until that is committed, it is the proof.
   *
   * @param claim the claim's id
   * @param file reads the client's file from the claim's row
   * @return whether it has died
   */
  boolean freeIfDead(SqliteSession session, String claim, FileOfRow file) throws SQLException {
    try (Dead dead = check(claim, file)) {
      if (dead == null) {
        return false;
      }
      free(session, dead);
      return true;
    }
  }

  private void free(SqliteSession session, Dead dead) throws SQLException {
    int locks = session.locks.freeAllOf(dead.inRows(), nowUs());
    int waiters = session.queue.deleteAllOf(dead.inRows());
    if (locks + waiters > 0) {
      LOG.log(
          Level.INFO,
          "store={0} the process of a client has died: freed {1} of its locks and deleted {2} of its waiters",
          store,
          locks,
          waiters);
    }
  }

  /** The client of a claim, if it has certainly died; to be closed. */
  private @Nullable Dead check(String claim, FileOfRow file) throws SQLException {
    String client = claim.substring(0, Math.max(0, claim.indexOf('-')));
    long nowNanos = ticker.nanos();
    Long checked = checkedNanos.get(client);
    // half of it: looks come by another clock, and one that comes a little early is not to be in vain
    if (checked != null && nowNanos - checked < LOOK_EVERY_US * 1000 / 2) {
      return null;
    }
    String inRow = file.get();
    if (inRow == null || inRow.isEmpty()) {
      // another row of the same client may name a file
      return null;
    }
    Dead dead = dead(inRow);
    if (dead == null) {
      if (checkedNanos.size() >= MOST_REMEMBERED) {
        checkedNanos.clear();
      }
      checkedNanos.put(client, nowNanos);
    }
    return dead;
  }

  private @Nullable Dead dead(String inRow) {
    SqliteClientFile file = SqliteClientFile.parse(inRow.substring(inRow.indexOf(' ') + 1));
    Dead dead = file != null && file.isOfThisBoot() ? lock(file) : null;
    if (dead == null || (dead.inRows().equals(inRow) && !dead.hasWork())) {
      return dead;
    }
    dead.close();
    return null;
  }

  /** Takes the lock of another process's file; null if that process has it, or nothing is certain. */
  private @Nullable Dead lock(SqliteClientFile file) {
    if (!file.isOfAnotherProcess()) {
      return null;
    }
    FileChannel channel = null;
    Dead dead = null;
    CHECKING.lock();
    try {
      Path path = beside(database(), file.toString());
      if (inode(path) == null) {
        return null;
      }
      channel = FileChannel.open(path, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
      if (channel.tryLock() == null) {
        return null;
      }
      String inode = inode(path);
      if (Files.size(path) == 0) {
        // Its client died before it had locked it, or finds it gone when it has.
        delete(path);
      } else if (inode != null) {
        dead = new Dead(path, file, inRows(inode, file), channel);
      }
      return dead;
    } catch (IOException | OverlappingFileLockException e) {
      // It may not be opened, or a client of another class loader checks it just now.
      LOG.log(Level.TRACE, "store=" + store + " nothing is certain about " + file, e);
      return null;
    } finally {
      if (dead == null) {
        if (channel != null) {
          closeQuietly(channel);
        }
        CHECKING.unlock();
      }
    }
  }

  /** The files beside the database of other processes' clients; and deletes those of work that have no client's. */
  List<SqliteClientFile> find() {
    try {
      Path database = database();
      // In this order: a client has its file before the one of its work exists, and until that is gone.
      List<Path> works = list(database, ".work");
      List<SqliteClientFile> found = new ArrayList<>();
      for (Path path : list(database, ".client")) {
        SqliteClientFile file = SqliteClientFile.parse(suffix(database, path));
        if (file != null) {
          if (file.isOfAnotherProcess()) {
            found.add(file);
          }
          works.remove(beside(database, file.work() + ".work"));
        }
      }
      for (Path lone : works) {
        if (suffix(database, lone).matches("[0-9A-Za-z]+\\.work")) {
          delete(lone);
        }
      }
      return isOnNetwork(database) ? List.of() : found;
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "store=" + store + " cannot look for dead clients", e);
      return List.of();
    }
  }

  /** If its client is dead, frees what it held and waited for, and deletes the file if nothing needs it any more. */
  boolean clean(SqliteSession session, SqliteClientFile file) throws SQLException {
    try (Dead dead = lock(file)) {
      if (dead == null) {
        return false;
      }
      if (session.locks.holds(dead.inRows(), nowUs()) || session.queue.holds(dead.inRows())) {
        if (!file.isOfThisBoot() || dead.hasWork()) {
          return false;
        }
        free(session, dead);
      }
      Path work = dead.work();
      // Before the client's file: only through that it is found.
      return (work == null || delete(work)) && delete(dead.path());
    }
  }

  private static List<Path> list(Path database, String end) throws IOException {
    String prefix = database.getFileName() + ".";
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> paths =
        Files.newDirectoryStream(database.resolveSibling(""), path -> {
          String name = path.getFileName().toString();
          return name.startsWith(prefix) && name.endsWith(end);
        })) {
      paths.forEach(found::add);
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return found;
  }

  private static String suffix(Path database, Path path) {
    return path.getFileName().toString().substring((database.getFileName() + ".").length());
  }

  /** Deletes the client's own file. Leases decide about what it has not released: the process goes on. */
  void close() {
    making.lock();
    try {
      made = true;
      Own file = own;
      own = null;
      if (file != null) {
        // while it is locked
        delete(file.path());
        closeQuietly(file.opened());
      }
    } finally {
      making.unlock();
    }
  }

  private boolean delete(Path path) {
    try {
      Files.deleteIfExists(path);
      return true;
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "store=" + store + " cannot delete " + path, e);
      return false;
    }
  }

  private long nowUs() {
    return SqliteContext.micros(ticker.now());
  }

  private Path database() throws IOException {
    return options.path().toRealPath();
  }

  private static boolean isOnNetwork(Path database) {
    return SqliteFile.fileSystem(database).filter(SqliteFile::isNetwork).isPresent();
  }

  private static Path beside(Path database, String suffix) {
    return database.resolveSibling(database.getFileName() + "." + suffix);
  }

  private static String inRows(String inode, SqliteClientFile file) {
    return inode + " " + file;
  }

  /** The device and inode that a path leads to; null if that is no file. */
  private static @Nullable String inode(Path path) throws IOException {
    if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
      return null;
    }
    Map<String, Object> attributes =
        Files.readAttributes(path, "unix:dev,ino", LinkOption.NOFOLLOW_LINKS);
    // of one length, so that rows are, too
    return String.format(Locale.ROOT, "%5s:%10s", attributes.get("dev"), attributes.get("ino"))
        .replace(' ', '0');
  }

  private static void closeQuietly(Closeable file) {
    try {
      file.close();
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "cannot close a client's file", e);
    }
  }
}
