// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a number depends on, and nothing that tells whose machine it was. */
final class Machine {
  private static final Pattern JAR = Pattern.compile("(.+?)-([0-9].*)\\.jar");

  private Machine() {}

  /** Says what was measured, on what, and how. */
  static List<String> about(Scale scale) {
    Runtime runtime = Runtime.getRuntime();
    List<String> lines = new ArrayList<>();
    lines.add("commit " + System.getProperty("holdfast.bench.commit", "unknown"));
    lines.add("Java " + System.getProperty("java.version") + ", " + System.getProperty("os.name")
        + " " + System.getProperty("os.arch") + ", "
        + runtime.availableProcessors() + " cores, heap " + (runtime.maxMemory() >> 20)
        + " MB; clients and servers on one machine, over loopback");
    lines.add(Text.of(
        "%d trials of %d ms after %d to warm up, the contenders in turns",
        scale.trials(), scale.trial().toMillis(), scale.warmUps()));
    lines.add(Text.of(
        "one thread alone, 16 with a lock each, and processes: more turns to warm up, until each of them has"
            + " done %,d cycles, for %d s at most",
        Trials.WARM_CYCLES, scale.longestWarmUp().toSeconds()));
    return lines;
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
