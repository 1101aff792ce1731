// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The examples in the documentation of what users test with are the lines of tests that run. */
class JavadocExamplesTest {
  private static final Pattern EXAMPLE =
      Pattern.compile("<pre>\\{@code\\n(.*?)\\n \\* }</pre>", Pattern.DOTALL);
  private static final Path MAIN = Path.of("src/main/java/io/holdfast/testkit");
  private static final Path TESTS = Path.of("src/test/java/io/holdfast/testkit");

  /** Line by line, in order: what stands between may differ, so that examples can be shorter than tests. */
  @Test
  void examples_areTested() throws IOException {
    List<String> tests = new ArrayList<>();
    for (Path file : javaFiles(TESTS)) {
      tests.add(Files.readString(file));
    }
    int examples = 0;
    for (Path file : javaFiles(MAIN)) {
      Matcher matcher = EXAMPLE.matcher(Files.readString(file));
      while (matcher.find()) {
        examples++;
        List<String> lines = matcher
            .group(1)
            .lines()
            .map(line -> line.replaceFirst("^ \\*", "").strip())
            .toList();
        assertThat(tests)
            .as("tests that contain the example of %s: %s", file.getFileName(), lines)
            .anyMatch(test -> containsInOrder(test, lines));
      }
    }
    assertThat(examples).isGreaterThanOrEqualTo(5);
  }

  /** Where the formatter breaks a line says nothing: statements are compared without white space. */
  private static boolean containsInOrder(String text, List<String> lines) {
    String left = text.replaceAll("\\s+", "");
    for (String line : lines) {
      String wanted = line.replaceAll("\\s+", "");
      int at = left.indexOf(wanted);
      if (at < 0) {
        return false;
      }
      left = left.substring(at + wanted.length());
    }
    return true;
  }

  private static List<Path> javaFiles(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
  }
}
