// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A Java source whose texts can be looked at without its code, and the code without what is in the texts.
 *
 * @param file where it is
 * @param code the source without comments; a text is its number in quotes there, and texts that the source only adds are one
 * @param texts what the numbers stand for
 */
record SourceTexts(Path file, String code, List<String> texts) {
  /** Stands between two texts of one message for what is put in there. */
  static final char GAP = '\uE000';

  private static final String COMMENT = "//.*+|/\\*[\\s\\S]*?\\*/";
  private static final String BLOCK = "\"\"\"([^\\\\]*?(?:\\\\[\\s\\S][^\\\\]*?)*?)\"\"\"";
  private static final String TEXT = "\"([^\"\\\\\\n]*+(?:\\\\.[^\"\\\\\\n]*+)*+)\"";
  private static final String CHARACTER = "'\\\\''|'(?:\\\\[^']*|[^'])'";
  private static final Pattern TOKEN =
      Pattern.compile(String.join("|", COMMENT, BLOCK, TEXT, CHARACTER));
  private static final Pattern ESCAPE =
      Pattern.compile("\\\\(?:u+([0-9a-fA-F]{4})|.)", Pattern.DOTALL);
  private static final Pattern SUM = Pattern.compile("\"(\\d+)\"\\s*\\+\\s*\"(\\d+)\"");
  private static final Pattern NUMBER = Pattern.compile("\"(\\d+)\"");
  private static final Pattern LOGGED = Pattern.compile("\\{\\d}");

  /** Reads all sources below some folders. */
  static List<SourceTexts> below(List<Path> folders) throws IOException {
    List<SourceTexts> all = new ArrayList<>();
    for (Path folder : folders) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file :
            files.filter(each -> each.toString().endsWith(".java")).sorted().toList()) {
          all.add(of(file, Files.readString(file)));
        }
      }
    }
    return all;
  }

  private static SourceTexts of(Path file, String source) {
    List<String> texts = new ArrayList<>();
    String code = TOKEN.matcher(source).replaceAll(token -> number(token, texts));
    for (Matcher sum = SUM.matcher(code); sum.find(); sum = SUM.matcher(code)) {
      texts.add(text(texts, sum.group(1)) + text(texts, sum.group(2)));
      code = code.substring(0, sum.start())
          + '"'
          + (texts.size() - 1)
          + '"'
          + code.substring(sum.end());
    }
    return new SourceTexts(file, code, texts);
  }

  private static String number(MatchResult token, List<String> texts) {
    String text = token.group(1) == null ? token.group(2) : token.group(1).stripIndent();
    if (text == null) {
      return " ";
    }
    texts.add(unicode(text).translateEscapes());
    return "\"" + (texts.size() - 1) + "\"";
  }

  /** The escapes that Java knows everywhere, and not in texts alone. */
  private static String unicode(String text) {
    return ESCAPE
        .matcher(text)
        .replaceAll(escape -> Matcher.quoteReplacement(
            escape.group(1) == null
                ? escape.group()
                : String.valueOf((char) Integer.parseInt(escape.group(1), 16))));
  }

  private static String text(List<String> texts, String number) {
    return texts.get(Integer.parseInt(number));
  }

  /** The argument that follows each place, as far as it is text: what is put in between is a {@link #GAP}. */
  List<String> arguments(Pattern place) {
    return place.matcher(code).results().map(found -> argument(found.end())).toList();
  }

  private String argument(int from) {
    int depth = 0;
    int end = from;
    while (depth > 0 || (code.charAt(end) != ',' && code.charAt(end) != ')')) {
      depth += switch (code.charAt(end)) {
        case '(' -> 1;
        case ')' -> -1;
        default -> 0;
      };
      end++;
    }
    String all = NUMBER
        .matcher(code.substring(from, end))
        .results()
        .map(number -> text(texts, number.group(1)))
        .collect(Collectors.joining(String.valueOf(GAP)));
    return LOGGED.matcher(all).replaceAll(String.valueOf(GAP));
  }
}
