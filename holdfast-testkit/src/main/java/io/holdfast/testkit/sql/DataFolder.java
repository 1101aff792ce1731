// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sql;

import io.holdfast.testkit.process.ServerPrograms;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The data folder of a new database server: made once on this machine, kept in the cache, and copied for each server. */
final class DataFolder {
  private DataFolder() {}

  /** Makes the data folder of one version of a server. */
  interface Maker {
    /**
     * Makes it.
     *
     * @param data where it goes; does not exist yet
     * @param scratch a folder for what is needed meanwhile
     */
    void make(Path data, Path scratch) throws IOException;
  }

  /**
   * Copies the data folder of a new server.
   *
   * @param program the server's program: another version makes another folder
   * @param recipe how it is made: another recipe makes another folder
   * @param maker makes it, if it is not in the cache
   * @param to where the copy goes
   */
  static void copy(String program, List<String> recipe, Maker maker, Path to) {
    String version = ServerPrograms.version(program);
    String name = program + "-" + Integer.toHexString(List.of(version, recipe).hashCode());
    try {
      Path made = ServerPrograms.cache().resolve("data").resolve(name);
      if (!Files.exists(made)) {
        make(maker, made);
      }
      copy(made, to);
    } catch (IOException e) {
      throw new UncheckedIOException("no data folder for " + program, e);
    }
  }

  /** Makes it in a scratch folder beside its place, and moves it there. */
  static void make(Maker maker, Path made) throws IOException {
    Path scratch = Files.createTempDirectory(Files.createDirectories(made.getParent()), "make");
    try {
      Path data = scratch.resolve("data");
      maker.make(data, scratch);
      Files.move(data, made, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      // if another JVM did the same meanwhile, either folder is the right one
      if (!Files.exists(made)) {
        throw e;
      }
    } finally {
      delete(scratch);
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.walkFileTree(from, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult preVisitDirectory(Path each, BasicFileAttributes attributes)
          throws IOException {
        return copied(each);
      }

      @Override
      public FileVisitResult visitFile(Path each, BasicFileAttributes attributes)
          throws IOException {
        return copied(each);
      }

      private FileVisitResult copied(Path each) throws IOException {
        // with the permissions: PostgreSQL insists on them
        Files.copy(
            each, to.resolve(from.relativize(each).toString()), StandardCopyOption.COPY_ATTRIBUTES);
        return FileVisitResult.CONTINUE;
      }
    });
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }
}
