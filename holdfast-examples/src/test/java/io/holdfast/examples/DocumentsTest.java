// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The documents agree with the code, with each other, and with the files that they point to. */
class DocumentsTest {
  /** Surefire starts tests in their module's folder. */
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static final String CHINESE = ".zh-CN.md";

  /** A line of the table of stores, from before its first bar to behind its last. */
  private static final int STORE_CELLS = 9;

  private static final Pattern FIGURE = Pattern.compile("\\d+([.,]\\d+)*( /s| ms)?");

  private static final Path SNIPPETS =
      Path.of("src", "test", "java", "io", "holdfast", "examples", "DocumentSnippets.java");

  private static final Path CONFIGURATION =
      Path.of("src", "main", "java", "io", "holdfast", "examples", "LockConfiguration.java");

  /** Code that is not compiled is wrong after the next change of a name. The comments of a Chinese page are its own. */
  @Test
  void everyJavaBlock_isCompiled() throws IOException {
    String compiled = Files.readString(SNIPPETS) + Files.readString(CONFIGURATION);
    int blocks = 0;
    for (Markdown document : documents()) {
      boolean translated = document.file().toString().endsWith(CHINESE);
      String code = Markdown.normal(translated ? withoutComments(compiled) : compiled);
      for (Markdown.Block block : document.blocks()) {
        if (block.language().equals("java")) {
          String shown = translated ? withoutComments(block.code()) : block.code();
          assertThat(code.contains(Markdown.normal(shown)))
              .as("this block is in %s or %s:%n%s", SNIPPETS, CONFIGURATION, block.code())
              .isTrue();
          blocks++;
        }
      }
    }
    assertThat(blocks).isGreaterThan(20);
  }

  private static String withoutComments(String java) {
    return java.replaceAll(" // .*", "");
  }

  /** Code, commands and addresses are the same in both languages; comments and sentences are each language's own. */
  @Test
  void eachChinesePage_hasTheCodeOfTheEnglishOne() throws IOException {
    List<Markdown> pages = documents().stream()
        .filter(document -> document.file().toString().endsWith(CHINESE))
        .toList();
    assertThat(pages).isNotEmpty();
    for (Markdown chinese : pages) {
      Markdown english = Markdown.read(Path.of(chinese.file().toString().replace(CHINESE, ".md")));
      assertThat(chinese.blocks().stream().map(DocumentsTest::withoutComments))
          .as("the code of %s", chinese.file())
          .containsExactlyElementsOf(
              english.blocks().stream().map(DocumentsTest::withoutComments).toList());
      assertThat(chinese.marks()).isEqualTo(english.marks());
    }
  }

  /** A reader of one language finds the same stores and the same figures in the other. */
  @Test
  void bothReadmes_haveTheSameStoresAndFigures() throws IOException {
    Markdown english = Markdown.read(ROOT.resolve("README.md"));
    Markdown chinese = Markdown.read(ROOT.resolve("README.zh-CN.md"));
    assertThat(chinese.codeInTable("`memory:`")).isEqualTo(english.codeInTable("`memory:`"));
    assertThat(bench(chinese)).isEqualTo(bench(english));
  }

  private static Markdown.Block withoutComments(Markdown.Block block) {
    String code = switch (block.language()) {
      case "java" -> withoutComments(block.code());
      case "sql" -> block.code().replaceAll(" +-- .*", "");
      default -> block.code().replaceAll(" {3,}# .*", "");
    };
    return new Markdown.Block(block.language(), code);
  }

  /** Who has not decided yet reads no long page. Code and tables are looked at, not read. */
  @Test
  void theReadmes_areShort() throws IOException {
    assertThat(text("README.md").trim().split("\\s+")).hasSizeLessThanOrEqualTo(1300);
    assertThat(text("README.zh-CN.md").replaceAll("\\s", "")).hasSizeLessThanOrEqualTo(3000);
  }

  private static String text(String readme) throws IOException {
    return Files.readString(ROOT.resolve(readme))
        .replaceAll("(?s)```.*?```", "")
        .replaceAll("(?m)^\\|.*$", "");
  }

  /** In a column that may be NULL, "fence <= ?" matches no row. */
  @Test
  void everyTokenCheck_comesWithItsColumn() throws IOException {
    List<String> without = new ArrayList<>();
    for (Markdown document : documents()) {
      String page = Files.readString(document.file());
      if (page.matches("(?s).*fence <= (\\?|\\d).*")
          && !page.contains("`fence BIGINT NOT NULL DEFAULT 0`")) {
        without.add(ROOT.relativize(document.file()).toString());
      }
    }
    assertThat(without).isEmpty();
  }

  /** A line without the store locks a file of each machine, and without what is kept the next machine runs the job again. */
  @Test
  void everyCrontabLine_isTheOneOfThePage() throws IOException {
    String line = Crontab.line();
    for (Markdown document : documents()) {
      for (Markdown.Block block : document.blocks()) {
        if (block.language().equals("crontab") && block.code().contains("holdfast run")) {
          assertThat(block.code()).as("in %s", document.file()).isEqualTo(line);
        }
      }
    }
  }

  /** The timer runs what the crontab does. */
  @Test
  void theSystemdUnit_isAsTheCrontab() throws IOException {
    String unit = Markdown.read(Crontab.PAGE).blocks().stream()
        .filter(block -> block.language().equals("ini"))
        .map(Markdown.Block::code)
        .findFirst()
        .orElseThrow();
    assertThat(unit.lines())
        .contains("ExecStart=" + Crontab.command())
        .allMatch(line -> line.isEmpty() || line.matches("# /etc/systemd/.*|\\[\\w+]|\\w+=.+"));
  }

  /** What both READMEs say is tested is what the table of versions says, in each row of theirs. */
  @Test
  void theTableOfStores_namesTheTestedVersions() throws IOException {
    Map<String, String> tested = new TreeMap<>();
    Pattern.compile("(?m)^\\| ([\\w-]+) \\| ([\\d.]+) \\| ([\\d.]+) \\|")
        .matcher(Files.readString(ROOT.resolve("docs/versions.md")))
        .results()
        .forEach(row -> tested.put(
            row.group(1).replace("sqlite-jdbc", "SQLite"),
            row.group(2).equals(row.group(3)) ? row.group(2) : row.group(2) + "–" + row.group(3)));
    assertThat(tested).hasSizeGreaterThan(8);
    for (String readme : List.of("README.md", "README.zh-CN.md")) {
      Map<String, String> named = new TreeMap<>();
      for (String line : Files.readAllLines(ROOT.resolve(readme))) {
        String[] cells = line.split(" *\\| *", -1);
        if (!line.matches("\\| .*`holdfast-.*")
            || cells.length != STORE_CELLS
            || cells[STORE_CELLS - 2].isEmpty()) {
          continue;
        }
        for (String each : cells[STORE_CELLS - 2].split(", |、", -1)) {
          // a range alone is of the store that begins the row
          String server =
              each.matches("[\\d.–]+") ? cells[1].split(" ", 2)[0] : each.split(" ", 2)[0];
          String range = each.substring(each.lastIndexOf(' ') + 1);
          assertThat(named.merge(server, range, (old, now) -> now))
              .as("%s of %s in %s", range, server, readme)
              .isEqualTo(tested.get(server));
        }
      }
      assertThat(named).as(readme).isEqualTo(tested);
    }
  }

  /** The figures that a bench run has put between the marks: the table's in their order, and those of the sentences sorted. */
  private static List<String> bench(Markdown document) throws IOException {
    String text = Files.readString(document.file());
    int begin = text.indexOf("<!-- bench -->");
    int end = text.indexOf("<!-- /bench -->");
    assertThat(begin).as("the marks of the bench in %s", document.file()).isBetween(0, end);
    List<String> figures = new ArrayList<>();
    List<String> words = new ArrayList<>();
    text.substring(begin, end)
        .lines()
        .forEach(line -> FIGURE
            .matcher(line)
            .results()
            .map(MatchResult::group)
            .forEach((line.startsWith("|") ? figures : words)::add));
    assertThat(figures).hasSizeGreaterThan(20);
    words.sort(null);
    figures.addAll(words);
    return figures;
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

  /** The driver in the second snippet is the one that is tested. */
  @Test
  void theDriverInTheSnippet_isTheOneOfTheBuild() throws IOException {
    String pom = Files.readString(ROOT.resolve("pom.xml"));
    assertThat(Files.readString(ROOT.resolve("README.md")))
        .contains("<artifactId>postgresql</artifactId>\n  <version>"
            + first(pom, "<postgresql.version>([^<]+)</") + "</version>");
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
