// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Keeps what was measured in {@code docs/benchmarks}, a JSON file for each group, and makes pages, charts and the parts of
 * other pages from all that is there: so that a group can be measured anew without the others.
 */
final class Results {
  private static final String BEGIN = "<!-- bench -->\n";
  private static final String END = "<!-- /bench -->";
  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private final Path root;
  private final Path folder;

  Results(Path root) {
    this.root = root;
    this.folder = root.resolve("docs").resolve("benchmarks");
  }

  /** Writes down one group. */
  void keep(Measured measured) {
    try {
      Files.createDirectories(folder);
      Files.writeString(
          folder.resolve(measured.group() + ".json"), JSON.writeValueAsString(measured) + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns all that was kept, in the order of the groups. */
  List<Measured> read() throws IOException {
    List<Measured> all = new ArrayList<>();
    for (String group : Groups.names()) {
      Path file = folder.resolve(group + ".json");
      if (Files.exists(file)) {
        all.add(JSON.readValue(Files.readString(file), Measured.class));
      }
    }
    return all;
  }

  /** Makes everything anew that people read. */
  void write() throws IOException {
    List<Measured> all = read();
    List<Charts.Chart> drawn = new ArrayList<>();
    for (Measured measured : all) {
      List<Charts.Chart> charts = Charts.of(measured);
      drawn.addAll(charts);
      Files.writeString(folder.resolve(measured.group() + ".md"), Pages.group(measured, charts));
    }
    List<Charts.Chart> main = Charts.main(all);
    drawn.addAll(main);
    draw(drawn);
    Files.writeString(folder.resolve("README.md"), Pages.index(all, main));
    replace(root.resolve("README.md"), Pages.readme(all, false));
    replace(root.resolve("README.zh-CN.md"), Pages.readme(all, true));
    replace(root.resolve("docs").resolve("choosing.md"), Pages.choosing(all));
  }

  /** Writes the charts, and removes those that there are no more. */
  private void draw(List<Charts.Chart> charts) throws IOException {
    List<String> files = charts.stream().map(Charts.Chart::file).toList();
    try (DirectoryStream<Path> old = Files.newDirectoryStream(folder, "*.svg")) {
      for (Path file : old) {
        if (!files.contains(file.getFileName().toString())) {
          Files.delete(file);
        }
      }
    }
    for (Charts.Chart chart : charts) {
      Files.writeString(folder.resolve(chart.file()), chart.svg());
    }
  }

  /** Replaces what stands between the marks. */
  private static void replace(Path file, String part) throws IOException {
    String text = Files.readString(file);
    int begin = text.indexOf(BEGIN);
    int end = text.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IOException(file.getFileName() + " has no marks for what was measured");
    }
    Files.writeString(file, text.substring(0, begin + BEGIN.length()) + part + text.substring(end));
  }
}
