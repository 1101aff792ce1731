// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.Ticker;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a number depends on, and nothing that tells whose machine it was. */
final class Machine {
  private static final Pattern JAR = Pattern.compile("(.+?)-([0-9].*)\\.jar");

  private static final String COMMIT = "commit ";
  private static final String TRIALS = " trials of ";
  private static final int SYNCS = 101;
  private static final int PAGE = 4096;

  private Machine() {}

  /** Says what was measured, on what, and how. */
  static List<String> about(Scale scale) {
    Runtime runtime = Runtime.getRuntime();
    List<String> lines = new ArrayList<>();
    lines.add(COMMIT + System.getProperty("holdfast.bench.commit", "unknown"));
    lines.add("Java " + System.getProperty("java.version") + ", " + System.getProperty("os.name")
        + " " + System.getProperty("os.arch") + ", "
        + runtime.availableProcessors() + " cores, heap " + (runtime.maxMemory() >> 20)
        + " MB; clients and servers on one machine, over loopback");
    lines.add("a write of 4 KB to the disk, and its sync: " + sync());
    lines.add(Text.of(
        "%d" + TRIALS + "%d ms after %d to warm up, the contenders in turns",
        scale.trials(),
        scale.trial().toMillis(),
        scale.warmUps()));
    lines.add(Text.of(
        "one thread alone, 16 with a lock each, and processes: more turns to warm up, until each of them has"
            + " done %,d cycles, for %d s at most",
        Trials.WARM_CYCLES, scale.longestWarmUp().toSeconds()));
    return lines;
  }

  /** Whether a line says of which state of the code numbers are, or how many trials gave them. */
  static boolean tellsRuns(String line) {
    return line.startsWith(COMMIT) || line.contains(TRIALS);
  }

  /** What the stores that write to a disk wait for, once or twice a cycle: the median. */
  private static String sync() {
    long[] nanos = new long[SYNCS];
    Ticker ticker = Ticker.system();
    try {
      Path file = Files.createTempFile("holdfast-bench", "sync");
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        for (int i = 0; i < SYNCS; i++) {
          long begun = ticker.nanos();
          channel.write(ByteBuffer.allocate(PAGE));
          channel.force(false);
          nanos[i] = ticker.nanos() - begun;
        }
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      // what was measured before counts for more
      return "not measured: " + e.getMessage();
    }
    Arrays.sort(nanos);
    return Text.of("%.2f ms", nanos[SYNCS / 2] / 1e6);
  }

  /** Returns the versions of libraries, of each of which a class is named: as their files have them. */
  static String versions(List<String> classes) {
    List<String> versions = new ArrayList<>();
    for (String name : classes) {
      try {
        // only its file is wanted
        Class<?> type = Class.forName(name, false, Machine.class.getClassLoader());
        Path file =
            Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath());
        Matcher parts = JAR.matcher(file.getFileName().toString());
        versions.add(parts.matches() ? parts.group(1) + " " + parts.group(2) : file.toString());
      } catch (ClassNotFoundException e) {
        throw new IllegalArgumentException("there is no " + name, e);
      }
    }
    return String.join(", ", versions);
  }
}
