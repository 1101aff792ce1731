// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;

/** Counts lines that a server writes into its log for each thing that it is asked. Reads only what is new. */
final class LinesCounter implements Counter {
  private final Path log;
  private final String name;
  private final Pattern line;
  private long position;
  private String rest = "";
  private long count;

  /**
   * Begins with the first line.
   *
   * @param name what is counted
   * @param line is found in the lines that count
   */
  LinesCounter(Path log, String name, String line) {
    this.log = log;
    this.name = name;
    this.line = Pattern.compile(line);
  }

  @Override
  public Map<String, Long> now() {
    String text = rest + news();
    int end = text.lastIndexOf('\n') + 1;
    rest = text.substring(end);
    count +=
        text.substring(0, end).lines().filter(each -> line.matcher(each).find()).count();
    return Map.of(name, count);
  }

  private String news() {
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
      byte[] news = new byte[Math.toIntExact(file.length() - position)];
      file.seek(position);
      file.readFully(news);
      position += news.length;
      return new String(news, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
