// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * As much of a Markdown file as the tests of the documents need: code blocks, headings, links, the code in a table.
 *
 * @param file where it is
 * @param blocks the fenced code
 * @param headings in order, with their level
 * @param links the targets of links in the text, in order
 * @param marks the places that have an id of their own, in order
 */
record Markdown(
    Path file, List<Block> blocks, List<Heading> headings, List<String> links, List<String> marks) {
  private static final Pattern HEADING = Pattern.compile("(#{1,6}) (.*)");
  private static final Pattern LINK = Pattern.compile("\\[[^]\\[]*]\\(([^()\\s]+)\\)");
  private static final Pattern MARK = Pattern.compile("<a id=\"([^\"]+)\"></a>");
  private static final Pattern CODE = Pattern.compile("`[^`]*`");

  /** Fenced code in a language. */
  record Block(String language, String code) {
    /** The code without white space: the formatter breaks lines where it likes. */
    String normal() {
      return Markdown.normal(code);
    }
  }

  /** A heading. */
  record Heading(int level, String text) {
    /** What a link to this heading ends with. */
    String anchor() {
      return text.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-');
    }
  }

  /** The code in the table that has this text in its first row, row by row, each in the order of the alphabet. */
  List<List<String>> codeInTable(String first) throws IOException {
    List<List<String>> rows = new ArrayList<>();
    boolean within = false;
    for (String line : Files.readAllLines(file)) {
      within = line.startsWith("|") && (within || line.contains(first));
      if (within) {
        rows.add(CODE.matcher(line).results().map(MatchResult::group).sorted().toList());
      }
    }
    return rows;
  }

  static String normal(String code) {
    return code.replaceAll("\\s", "");
  }

  static Markdown read(Path file) throws IOException {
    Markdown read = new Markdown(
        file, new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    List<String> lines = Files.readAllLines(file);
    int at = 0;
    while (at < lines.size()) {
      String line = lines.get(at);
      if (line.startsWith("```")) {
        at = read.takeBlock(lines, at);
      } else {
        read.takeText(line);
        at++;
      }
    }
    return read;
  }

  private int takeBlock(List<String> lines, int from) {
    int end = from + 1;
    while (!lines.get(end).startsWith("```")) {
      end++;
    }
    String language = lines.get(from).substring(3).strip();
    blocks.add(new Block(language, String.join("\n", lines.subList(from + 1, end))));
    return end + 1;
  }

  private void takeText(String line) {
    Matcher heading = HEADING.matcher(line);
    if (heading.matches()) {
      headings.add(new Heading(heading.group(1).length(), heading.group(2)));
    }
    MARK.matcher(line).results().map(found -> found.group(1)).forEach(marks::add);
    Matcher link = LINK.matcher(CODE.matcher(line).replaceAll("code"));
    while (link.find()) {
      links.add(link.group(1));
    }
  }
}
