// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The documents agree with the code, with each other, and with the files that they point to. */
class DocumentsTest {
  /** Surefire starts tests in their module's folder. */
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static final Path SNIPPETS =
      Path.of("src", "test", "java", "io", "holdfast", "examples", "ReadmeSnippets.java");

  private static final Path CONFIGURATION =
      Path.of("src", "main", "java", "io", "holdfast", "examples", "LockConfiguration.java");

  /** Code that nobody compiles is wrong after the next change of a name. */
  @Test
  void everyJavaBlock_isCompiled() throws IOException {
    String compiled = Markdown.normal(Files.readString(SNIPPETS) + Files.readString(CONFIGURATION));
    List<Markdown.Block> blocks = javaBlocks();
    assertThat(blocks).hasSizeGreaterThan(10);
    for (Markdown.Block block : blocks) {
      assertThat(compiled.contains(block.normal()))
          .as("this block is in %s or %s:%n%s", SNIPPETS, CONFIGURATION, block.code())
          .isTrue();
    }
  }

  private static List<Markdown.Block> javaBlocks() throws IOException {
    List<Markdown.Block> blocks = new ArrayList<>();
    for (Markdown document : documents()) {
      document.blocks().stream()
          .filter(block -> block.language().equals("java"))
          .forEach(blocks::add);
    }
    return blocks;
  }

  /** A reader of one language must not miss what the other one says. */
  @Test
  void bothReadmes_haveTheSameShape() throws IOException {
    Markdown english = Markdown.read(ROOT.resolve("README.md"));
    Markdown chinese = Markdown.read(ROOT.resolve("README.zh-CN.md"));
    assertThat(chinese.blocks()).isEqualTo(english.blocks());
    assertThat(chinese.tables()).isEqualTo(english.tables());
    assertThat(levels(chinese)).isEqualTo(levels(english));
    assertThat(chinese.links()).hasSameSizeAs(english.links());
    assertThat(bench(chinese)).isEqualTo(bench(english));
    // what is code, or a number, needs no translation
    assertThat(words(chinese)).isEqualTo(words(english));
  }

  /** What stands between back quotes in the text, in the order of the alphabet: sentences turn around. */
  private static List<String> words(Markdown document) throws IOException {
    String text = Files.readString(document.file()).replaceAll("(?s)```.*?```", "");
    return Pattern.compile("`[^`]+`")
        .matcher(text)
        .results()
        .map(MatchResult::group)
        .sorted()
        .toList();
  }

  private static List<Integer> levels(Markdown document) {
    return document.headings().stream().map(Markdown.Heading::level).toList();
  }

  /** What a bench run has put between the marks, without the table's words. */
  private static long bench(Markdown document) throws IOException {
    String text = Files.readString(document.file());
    int begin = text.indexOf("<!-- bench -->");
    int end = text.indexOf("<!-- /bench -->");
    assertThat(begin).as("the marks of the bench in %s", document.file()).isBetween(0, end);
    return text.substring(begin, end).lines().count();
  }

  /** A link in the repository leads to a file that is there, and to a heading in it. */
  @Test
  void everyRelativeLink_leadsSomewhere() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Markdown document : documents()) {
      for (String link : document.links()) {
        if (!link.matches("[a-z]+:.*") && !leadsSomewhere(document, link)) {
          broken.add(ROOT.relativize(document.file()) + " -> " + link);
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  private static boolean leadsSomewhere(Markdown from, String link) throws IOException {
    int hash = link.indexOf('#');
    String path = hash < 0 ? link : link.substring(0, hash);
    Path target =
        path.isEmpty() ? from.file() : from.file().resolveSibling(path).normalize();
    if (!Files.exists(target)) {
      return false;
    }
    if (hash < 0) {
      return true;
    }
    Markdown found = Markdown.read(target);
    String place = link.substring(hash + 1);
    return found.marks().contains(place)
        || found.headings().stream().anyMatch(heading -> heading.anchor().equals(place));
  }

  /** The snippet for a build file names the version that is built. */
  @Test
  void theDependencySnippet_namesTheVersionOfTheBuild() throws IOException {
    String pom = Files.readString(ROOT.resolve("pom.xml"));
    String snippet = Markdown.read(ROOT.resolve("README.md")).blocks().stream()
        .filter(block -> block.language().equals("xml"))
        .map(Markdown.Block::code)
        .findFirst()
        .orElseThrow();
    assertThat(snippet)
        .contains("<version>" + first(pom, "<version>([^<]+)</version>") + "</version>");
  }

  private static String first(String text, String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(text);
    assertThat(found.find()).as(pattern).isTrue();
    return found.group(1);
  }

  private static List<Markdown> documents() throws IOException {
    List<Markdown> all = new ArrayList<>();
    for (Path folder : List.of(
        ROOT,
        ROOT.resolve("docs"),
        ROOT.resolve("docs/benchmarks"),
        ROOT.resolve("holdfast-examples"))) {
      try (Stream<Path> files = Files.list(folder)) {
        for (Path file :
            files.filter(name -> name.toString().endsWith(".md")).sorted().toList()) {
          all.add(Markdown.read(file));
        }
      }
    }
    return all;
  }
}
