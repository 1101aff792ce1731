// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The examples in the documentation of public classes are the lines of tests, which are compiled and run. */
class JavadocExamplesTest {
  private static final Pattern EXAMPLE =
      Pattern.compile("<pre>\\{@code\\n(.*?)\\n +\\* }</pre>", Pattern.DOTALL);
  private static final Pattern COMMENT = Pattern.compile("(^|\\s)// .*");
  private static final Path MAIN = Path.of("src", "main", "java");

  /** The packages that programs use, and their tests; the others are for authors of stores. */
  private static final Set<String> PROGRAMS = Set.of(
      "io/holdfast",
      "io/holdfast/jdbc",
      "io/holdfast/redis",
      "io/holdfast/zookeeper",
      "io/holdfast/etcd",
      "io/holdfast/consul",
      "io/holdfast/testkit");

  /** What a program starts from, or its tests do. */
  private static final List<String> WITH_EXAMPLES = List.of(
      "Holdfast",
      "DistributedLock",
      "Hold",
      "LockOptions",
      "OnLost",
      "JavaLock",
      "LockAdmin",
      "LockListener",
      "Guarantees",
      "JdbcStore",
      "JdbcSettings",
      "SqliteStore",
      "DataLocks",
      "RowLock",
      "SessionLock",
      "SessionHold",
      "OptimisticLock",
      "VersionColumn",
      "FencingGuard",
      "RedisStore",
      "RedisSettings",
      "RedlockStore",
      "RedisGuard",
      "OneTimeTokens",
      "ZooKeeperStore",
      "ZooKeeperSettings",
      "EtcdStore",
      "EtcdSettings",
      "ManualClock",
      "FaultyStore",
      "Faults",
      "HoldfastExtension",
      "Rival",
      "Clients");

  /** How many characters without blanks, some seven lines, a test may have between two lines of an example. */
  private static final int MOST_BETWEEN = 350;

  /** Line by line, in order: a little may stand between them, so that examples can be shorter than tests. */
  @Test
  void examples_areTested() throws IOException {
    Map<Path, String> tests = tests();
    Map<String, Integer> examples = new TreeMap<>();
    for (Path file : Sources.javaFiles()) {
      if (!isOfAProgram(file)) {
        continue;
      }
      Matcher matcher = EXAMPLE.matcher(Files.readString(file));
      while (matcher.find()) {
        examples.merge(file.getFileName().toString().replace(".java", ""), 1, Integer::sum);
        List<String> lines = matcher
            .group(1)
            .lines()
            .map(line -> line.replaceFirst("^ +\\*", ""))
            .map(JavadocExamplesTest::code)
            .filter(line -> !line.isEmpty())
            .toList();
        assertThat(tests.values().stream().anyMatch(test -> containsInOrder(test, lines)))
            .as("a test contains the example of %s: %s", file.getFileName(), lines)
            .isTrue();
      }
    }
    assertThat(examples).containsKeys(WITH_EXAMPLES.toArray(String[]::new));
  }

  private static boolean isOfAProgram(Path file) {
    String folder = file.toString().replaceFirst("[^/]*$", "");
    return PROGRAMS.stream().anyMatch(each -> folder.endsWith(MAIN + "/" + each + "/"));
  }

  private static Map<Path, String> tests() throws IOException {
    Map<Path, String> tests = new LinkedHashMap<>();
    for (Path file : Sources.javaFiles()) {
      if (!file.toString().contains(MAIN.toString())) {
        StringBuilder text = new StringBuilder();
        Files.readString(file).lines().map(JavadocExamplesTest::code).forEach(text::append);
        tests.put(file, text.toString());
      }
    }
    return tests;
  }

  /** Where the formatter breaks a line says nothing, and comments are for readers: what is compared has neither. */
  private static String code(String line) {
    return COMMENT.matcher(line).replaceFirst("").replaceAll("\\s+", "");
  }

  private static boolean containsInOrder(String test, List<String> lines) {
    String first = lines.get(0);
    for (int at = test.indexOf(first); at >= 0; at = test.indexOf(first, at + 1)) {
      if (followsFrom(test, at + first.length(), lines.subList(1, lines.size()))) {
        return true;
      }
    }
    return false;
  }

  private static boolean followsFrom(String test, int from, List<String> lines) {
    int end = from;
    for (String line : lines) {
      int at = test.indexOf(line, end);
      if (at < 0 || at - end > MOST_BETWEEN) {
        return false;
      }
      end = at + line.length();
    }
    return true;
  }
}
