// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The file as the file system sees it: is the place usable, is it still the same file.
 *
 * <p>Nothing here opens a file that may be a database. POSIX drops all of a process's locks on a file as soon as the
 * process closes <em>any</em> descriptor of it, so a harmless look at the first bytes would silently break the locks of
 * a connection that another store of this JVM has.
 */
final class SqliteFile {
  /**
   * Names as the kernels of Linux and macOS give them. Their locks do not reach other machines, or not reliably; the last
   * ones are folders that a virtual machine shares with its host.
   */
  private static final Set<String> NETWORK = Set.of(
      "nfs",
      "nfs4",
      "cifs",
      "smb",
      "smb2",
      "smb3",
      "smbfs",
      "smbfs2",
      "afs",
      "afpfs",
      "ncpfs",
      "webdav",
      "davfs",
      "9p",
      "ceph",
      "lustre",
      "gpfs",
      "beegfs",
      "glusterfs",
      "gfs2",
      "ocfs2",
      "orangefs",
      "pvfs2",
      "virtiofs",
      "vboxsf",
      "vmhgfs",
      "prl_fs",
      "fakeowner");

  /** File systems in user space that say what they are after the dot; not all of them are remote. */
  private static final Set<String> LOCAL_FUSE = Set.of(
      "fuse.ntfs-3g",
      "fuseblk",
      "fuse.bindfs",
      "fuse.encfs",
      "fuse.gocryptfs",
      "fuse.fuse-overlayfs",
      "fuse.mergerfs");

  private SqliteFile() {}

  /**
   * Checks the place.
   *
   * @throws ConfigurationException if no database can be there
   */
  static void checkPlace(SqliteOptions options, String store) {
    Path path = options.path();
    Path folder = path.getParent();
    if (folder == null || Files.isDirectory(path)) {
      throw new ConfigurationException(
          store + " is a folder; name a file in it, for example sqlite:" + path.resolve("locks.db"),
          store,
          null);
    }
    if (Files.exists(path) && !Files.isRegularFile(path)) {
      throw new ConfigurationException(
          store + " is no regular file but a device, a pipe or a socket; name a file", store, null);
    }
    if (!Files.isDirectory(folder)) {
      throw new ConfigurationException(
          store + ": the folder " + folder
              + " does not exist; make it first (mkdir -p), or correct the path",
          store,
          null);
    }
    refuseNetwork(options, folder, store);
  }

  private static void refuseNetwork(SqliteOptions options, Path folder, String store) {
    if (options.networkFile()) {
      return;
    }
    Optional<String> type = fileSystem(Files.exists(options.path()) ? options.path() : folder);
    if (type.isPresent() && isNetwork(type.get())) {
      throw new ConfigurationException(
          store + " is on a network file system (" + type.get()
              + "), where SQLite's locks do not exclude other machines"
              + " and its shared memory does not work; choose a local path, or a store with a server. If only this"
              + " machine ever uses the file: add ?holdfast.network-file=allow",
          store,
          null);
    }
  }

  /** The type of the file system that a path is on, where the platform says so. */
  static Optional<String> fileSystem(Path path) {
    try {
      FileStore on = Files.getFileStore(path);
      return Optional.of(on.type().toLowerCase(Locale.ROOT));
    } catch (IOException e) {
      // The platform does not say, or the path is not there; opening the file gives the better error.
      return Optional.empty();
    }
  }

  /** Says whether files of this type of file system are shared between machines. */
  static boolean isNetwork(String type) {
    return NETWORK.contains(type) || (type.startsWith("fuse.") && !LOCAL_FUSE.contains(type));
  }

  /**
   * Returns what tells this file from another one of the same name: device and inode. Costs one system call.
   *
   * @return null if there is no file
   */
  static @Nullable Object identity(Path path) throws IOException {
    try {
      BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
      Object key = attributes.fileKey();
      return key == null ? attributes.creationTime() : key;
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /** Says whether there certainly is another file, or none, where this one was. */
  static boolean isReplaced(Path path, Object was) {
    try {
      return !was.equals(identity(path));
    } catch (IOException e) {
      // We may not look, which proves nothing; what is open stays usable.
      return false;
    }
  }

  /** Says in words why the system refused something; Java says some of it with the name of a class. */
  static String reason(IOException failure) {
    if (failure instanceof AccessDeniedException) {
      return "permission denied";
    }
    if (failure instanceof NoSuchFileException) {
      return "no such file";
    }
    String system = failure instanceof FileSystemException file && file.getReason() != null
        ? file.getReason()
        : failure.getMessage();
    return system == null ? "the system gives no reason" : system;
  }

  /** The path as a SQLite URI: nothing in a name can be taken for a parameter. */
  static String uri(Path path, String parameters) {
    StringBuilder uri = new StringBuilder("file:");
    for (byte b : path.toString().getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xff);
      boolean plain = c < 0x80 && (Character.isLetterOrDigit(c) || "/-_.~".indexOf(c) >= 0);
      if (plain) {
        uri.append(c);
      } else {
        uri.append('%')
            .append(Character.toUpperCase(Character.forDigit(c >> 4, 16)))
            .append(Character.toUpperCase(Character.forDigit(c & 15, 16)));
      }
    }
    return uri.append(parameters).toString();
  }
}
