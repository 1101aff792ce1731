// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What every source file and every package has. */
class SourcesTest {
  private static final Path MAIN = Path.of("src", "main", "java");
  private static final Pattern COMMENT = Pattern.compile("(?m)^ *(//|/?\\*).*$");
  private static final Pattern DETACHED = Pattern.compile("(?m)^ *(/\\*\\*.*)?\\*/\\s*(/\\*\\*|})");
  private static final Path TEST = Path.of("src", "test", "java");
  private static final List<String> STORES = List.of(
      "holdfast-core",
      "holdfast-jdbc",
      "holdfast-redis",
      "holdfast-zookeeper",
      "holdfast-etcd",
      "holdfast-consul");

  /** Spotless looks after the other files, but leaves module-info and package-info alone. */
  @Test
  void everySource_namesItsLicence() throws IOException {
    for (Path source : Sources.javaFiles()) {
      assertThat(Files.readString(source))
          .as("the first line of %s", Sources.ROOT.relativize(source))
          .startsWith("// SPDX-License-Identifier: Apache-2.0\n");
    }
  }

  /** Newer compilers refuse it, so that a build on an older one says too little. */
  @Test
  void everyDocComment_standsBeforeWhatItIsAbout() throws IOException {
    for (Path source : Sources.javaFiles()) {
      assertThat(Files.readString(source))
          .as("a doc comment before another or a brace: %s", Sources.ROOT.relativize(source))
          .doesNotContainPattern(DETACHED);
    }
  }

  /** A monitor pins a virtual thread that waits in it. */
  @Test
  void noMonitors_whereVirtualThreadsWait() throws IOException {
    assertNowhere(
        "\\bsynchronized\\b(?=[ (])",
        List.of("holdfast-core", "holdfast-jdbc", "holdfast-cli"),
        "package-info.java");
  }

  /** What a caller's thread carries for its own request is not for a thread that serves everybody. */
  @Test
  void threads_takeNothingOverFromTheirFirstCaller() throws IOException {
    assertNowhere(
        "new Thread\\(|extends Thread\\b|defaultThreadFactory", STORES, "DaemonThread.java");
  }

  /** What comes after a line of the engine's log must happen, though the line cannot be written. */
  @Test
  void engine_logsWhereNothingIsThrown() throws IOException {
    assertNowhere("getLogger\\(", List.of("holdfast-core"), "Log.java");
  }

  /** What the product's code must not have, comments and one file left out. */
  private static void assertNowhere(String pattern, List<String> modules, String butIn)
      throws IOException {
    for (String module : modules) {
      int looked = 0;
      for (Path source : Sources.javaFiles(Sources.ROOT.resolve(module))) {
        if (source.toString().contains(MAIN.toString()) && !source.endsWith(butIn)) {
          looked++;
          assertThat(COMMENT.matcher(Files.readString(source)).replaceAll(""))
              .as("%s", Sources.ROOT.relativize(source))
              .doesNotContainPattern(Pattern.compile(pattern));
        }
      }
      assertThat(looked).as("files of %s", module).isGreaterThan(20);
    }
  }

  /** Without the annotation, users' tools take every reference for "may be null, or not". */
  @Test
  void everyPackage_isNullMarked() throws IOException {
    Set<Path> packages = new LinkedHashSet<>();
    for (Path source : Sources.javaFiles()) {
      if (!source.endsWith("module-info.java")) {
        packages.add(source.getParent());
      }
    }
    assertThat(packages).hasSizeGreaterThan(5);
    for (Path folder : packages) {
      assertThat(folder)
          .as("package-info.java with @NullMarked for %s", Sources.ROOT.relativize(folder))
          .matches(SourcesTest::isNullMarked, "is null-marked");
    }
  }

  /** Tests in a package of the product are covered by the product's own package-info. */
  private static boolean isNullMarked(Path folder) {
    Path inMain = Path.of(folder.toString().replace(TEST.toString(), MAIN.toString()));
    return declaresNullMarked(folder) || declaresNullMarked(inMain);
  }

  private static boolean declaresNullMarked(Path folder) {
    Path info = folder.resolve("package-info.java");
    try {
      return Files.exists(info) && Files.readString(info).contains("\n@NullMarked\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A page that says how something is tested names what is there. */
  @Test
  void everyTestThatTheRecordNames_isThere() throws IOException {
    Pattern named = Pattern.compile("`([A-Z]\\w+)\\.(\\w+)`");
    Set<String> there = new LinkedHashSet<>();
    for (Path source : Sources.javaFiles()) {
      String type = source.getFileName().toString().replace(".java", "");
      Pattern.compile("\\bvoid (\\w+)\\(|^ +([A-Z][A-Z_]+)\\(", Pattern.MULTILINE)
          .matcher(Files.readString(source))
          .results()
          .forEach(each ->
              there.add(type + "." + (each.group(1) == null ? each.group(2) : each.group(1))));
    }
    List<String> names = named
        .matcher(Files.readString(Sources.ROOT.resolve("docs/verification.md")))
        .results()
        .map(each -> each.group(1) + "." + each.group(2))
        .toList();
    assertThat(names).hasSizeGreaterThan(20);
    assertThat(there).containsAll(names);
  }
}
