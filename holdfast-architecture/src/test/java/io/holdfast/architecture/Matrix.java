// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What the contract has left behind in this build, in the modules of the stores. */
final class Matrix {
  /** What follows the name of a store in a row of the oldest supported servers. */
  static final String OLDEST = "-oldest";

  private static final Path BUILD =
      Path.of(System.getProperty("holdfast.buildDirectory", "target"));

  /** When the build began, in UTC to the second: what is older was left behind by another one. */
  private static final Instant BEGAN = LocalDateTime.parse(
          System.getProperty("holdfast.buildBegan", "19700101000000"),
          DateTimeFormatter.ofPattern("yyyyMMddHHmmss", Locale.ROOT))
      .toInstant(ZoneOffset.UTC);

  private final SortedMap<String, String> rows = new TreeMap<>();

  private Matrix() {}

  /** Reads it. */
  static Matrix read() {
    Matrix matrix = new Matrix();
    try {
      for (Path module : Sources.modules()) {
        matrix.add(module.resolve(BUILD).resolve("contract"));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return matrix;
  }

  private void add(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        if (!Files.getLastModifiedTime(file).toInstant().isBefore(BEGAN)) {
          rows.put(
              file.getFileName().toString(),
              Files.readAllLines(file).stream().findFirst().orElse(""));
        }
      }
    }
  }

  /** The row of a store whose contract was run. */
  Optional<String> run(String store) {
    return Optional.ofNullable(rows.get(store + ".txt"));
  }

  /** The row of a store that could not be made. */
  Optional<String> notRun(String store) {
    return Optional.ofNullable(rows.get(store + ".not-run"));
  }

  /** The rows of all stores whose contract was run, by their names. */
  SortedMap<String, String> run() {
    SortedMap<String, String> run = new TreeMap<>();
    rows.forEach((file, row) -> {
      if (file.endsWith(".txt")) {
        run.put(file.substring(0, file.length() - ".txt".length()), row);
      }
    });
    return run;
  }
}
