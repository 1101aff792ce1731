// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A small disk that a server of a test's own has for itself, and that the test fills and empties: a tmpfs in a mount
 * namespace (Linux). It is empty when the server starts, and goes with its process.
 */
public final class SmallDisk {
  private static final int BLOCK = 4096;

  private final Path folder;
  private final String size;

  private SmallDisk(Path folder, String size) {
    this.folder = folder;
    this.size = size;
  }

  /**
   * Makes one. Where mount namespaces are not permitted, {@link Needs} says what becomes of the test.
   *
   * @param folder an empty folder, on which the disk is mounted
   * @param size as {@code mount -o size=} takes it
   * @return a disk for {@link ServerProcess#start(List, SmallDisk)}
   */
  public static SmallDisk on(Path folder, String size) {
    SmallDisk disk = new SmallDisk(folder, size);
    Needs.that(
        System.getProperty("os.name").equals("Linux") && disk.works(),
        "a full disk is not tested: no mount namespaces (unshare -rm)");
    return disk;
  }

  private boolean works() {
    List<String> line = new ArrayList<>(before());
    line.add("true");
    try {
      return new ProcessBuilder(line).start().onExit().join().exitValue() == 0;
    } catch (IOException e) {
      // no such command
      return false;
    }
  }

  /** Returns what stands before the command that has the disk; the process is the command's in the end. */
  List<String> before() {
    // in the end not as the namespace's root, which PostgreSQL refuses to run as
    String mount =
        "mount -t tmpfs -o size=" + size + ",mode=700 none \"$0\" && exec unshare --user -- \"$@\"";
    return List.of("unshare", "-rm", "sh", "-c", mount, folder.toString());
  }

  /**
   * Fills what is left of it.
   *
   * @param server whose disk it is
   */
  public void fill(ServerProcess server) {
    try (OutputStream out = Files.newOutputStream(
        filler(server), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      while (true) {
        out.write(new byte[BLOCK]);
      }
    } catch (IOException e) {
      if (!String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT).contains("space")) {
        throw new UncheckedIOException("the disk could not be filled", e);
      }
    }
  }

  /**
   * Makes room again.
   *
   * @param server whose disk it is
   */
  public void makeRoom(ServerProcess server) {
    try {
      Files.delete(filler(server));
    } catch (IOException e) {
      throw new UncheckedIOException("no room could be made", e);
    }
  }

  /** Nobody else sees the disk at its place. */
  private Path filler(ServerProcess server) {
    Path root = Path.of("/proc", Long.toString(server.pid()), "root");
    return root.resolve(Path.of("/").relativize(folder.toAbsolutePath())).resolve("filler");
  }
}
