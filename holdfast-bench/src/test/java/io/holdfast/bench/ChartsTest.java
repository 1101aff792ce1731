// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** The charts of what was measured last can be read, all of them, and are those that the pages show. */
class ChartsTest {
  /** Surefire starts tests in their module's folder. */
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static final Path PAGES = ROOT.resolve("docs").resolve("benchmarks");

  private List<Measured> all = List.of();
  private final List<Charts.Chart> charts = new ArrayList<>();

  @BeforeEach
  void draw() throws IOException {
    all = new Results(ROOT).read();
    charts.addAll(Charts.main(all));
    all.forEach(measured -> charts.addAll(Charts.of(measured)));
    assertThat(charts).hasSizeGreaterThan(40);
  }

  /** A label, and the room that it takes. */
  private record Label(String text, double left, double right, double top, double bottom) {
    static Label of(Element element) {
      String text = element.getTextContent();
      double width =
          text.codePoints().mapToDouble(letter -> letter >= 0x2e80 ? 13 : 7).sum();
      double x = Double.parseDouble(element.getAttribute("x"));
      double y = Double.parseDouble(element.getAttribute("y"));
      double left = element.getAttribute("text-anchor").equals("middle") ? x - width / 2 : x;
      return new Label(text, left, left + width, y - 10, y + 3);
    }

    boolean meets(Label other) {
      return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
  }

  private static List<Element> elements(Charts.Chart chart, String name) throws Exception {
    NodeList found = DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(chart.svg())))
        .getElementsByTagName(name);
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < found.getLength(); i++) {
      elements.add((Element) found.item(i));
    }
    return elements;
  }

  private static List<Label> labels(Charts.Chart chart) throws Exception {
    return elements(chart, "text").stream().map(Label::of).toList();
  }

  private List<String> texts(Measured measured) throws Exception {
    List<String> texts = new ArrayList<>();
    for (Charts.Chart chart : Charts.of(measured)) {
      labels(chart).forEach(label -> texts.add(label.text()));
    }
    return texts;
  }

  /** A label that is left out, or drawn as an outline, can neither be read nor searched for. */
  @Test
  void everyContenderAndValue_isText() throws Exception {
    for (Measured measured : all) {
      if (Charts.of(measured).isEmpty()) {
        continue;
      }
      Set<String> texts = new HashSet<>(texts(measured));
      String store = measured.rows().get(0).store();
      for (Row row : measured.rows()) {
        if (row.workload().unit() != Unit.PER_SECOND || !row.store().equals(store)) {
          continue;
        }
        for (Figure figure : row.figures()) {
          assertThat(texts)
              .as(row.text())
              .contains(figure.who(), Text.number(figure.median()) + " /s");
        }
      }
    }
    for (String store : Measured.stores(all)) {
      for (Charts.Chart chart : Charts.main(all)) {
        Workload workload = switch (chart.file()) {
          case "hand-over.svg" -> Workload.HAND_OVER;
          case "one-lock.svg" -> Workload.SHARED;
          default -> Workload.UNCONTENDED;
        };
        // memory has no requests, and so no floor
        if (Measured.find(all, store, workload).isPresent()
            && !(workload == Workload.UNCONTENDED && store.equals("memory"))) {
          assertThat(labels(chart)).extracting(Label::text).as(chart.file()).contains(store);
        }
      }
    }
  }

  @Test
  void noTwoLabels_meet() throws Exception {
    for (Charts.Chart chart : charts) {
      double width = Double.parseDouble(elements(chart, "svg").get(0).getAttribute("width"));
      List<Label> labels = labels(chart);
      for (int i = 0; i < labels.size(); i++) {
        Label label = labels.get(i);
        assertThat(labels.subList(i + 1, labels.size()))
            .as("%s: %s", chart.file(), label)
            .noneMatch(label::meets);
        assertThat(label.right()).as("%s: %s", chart.file(), label).isLessThan(width);
      }
    }
  }

  /** A bar on a logarithmic axis can be made as long as one likes, and such an axis has no zero. */
  @Test
  void aLogarithmicAxis_hasNeitherBarsNorZero() throws Exception {
    int logarithmic = 0;
    for (Charts.Chart chart : charts) {
      List<String> texts = labels(chart).stream().map(Label::text).toList();
      if (texts.stream().anyMatch(text -> text.contains("logarithmic"))) {
        assertThat(elements(chart, "rect")).as(chart.file()).isEmpty();
        assertThat(texts).as(chart.file()).doesNotContain("0");
        logarithmic++;
      } else {
        assertThat(elements(chart, "rect")).as(chart.file()).isNotEmpty();
        assertThat(texts).as(chart.file()).containsAnyOf("0", "0 %");
      }
    }
    assertThat(logarithmic).isBetween(30, charts.size() - 1);
  }

  /** Nothing is drawn behind, and each colour has a second one for dark pages. */
  @Test
  void everyColour_isOfAClassForLightAndDark() throws Exception {
    for (Charts.Chart chart : charts) {
      String[] style = elements(chart, "style").get(0).getTextContent().split("@media", 2);
      assertThat(style[1]).startsWith("(prefers-color-scheme:dark)");
      Set<String> kinds = new HashSet<>();
      for (String name : List.of("rect", "circle", "line")) {
        elements(chart, name).forEach(element -> kinds.add(element.getAttribute("class")));
      }
      kinds.remove("grid");
      assertThat(kinds)
          .as(chart.file())
          .isNotEmpty()
          .allSatisfy(
              kind -> assertThat(style).allMatch(part -> part.contains("." + kind + "{fill:#")));
      assertThat(chart.svg().replaceAll("(?s)<style>.*</style>", "")).doesNotContain("#", "fill");
    }
  }

  /** Hand-overs that ask no store look a hundred times as fast, which has to be said beside them. */
  @Test
  void localHandOver_isSaidUnderItsCharts() {
    assertThat(charts)
        .filteredOn(chart -> chart.note().isEmpty())
        .extracting(Charts.Chart::file)
        .allMatch(file -> file.matches("uncontended.*|.*hand-over.svg|reentry-throughput.svg"));
    assertThat(charts).filteredOn(chart -> !chart.note().isEmpty()).hasSizeGreaterThan(25);
  }

  /** After a change of what is drawn or written, {@code dev/bench --draw} has to be run. */
  @Test
  void thePages_areMadeFromTheData() throws IOException {
    for (Charts.Chart chart : charts) {
      assertThat(Files.readString(PAGES.resolve(chart.file()))).isEqualTo(chart.svg());
    }
    for (Measured measured : all) {
      assertThat(Files.readString(PAGES.resolve(measured.group() + ".md")))
          .isEqualTo(Pages.group(measured, Charts.of(measured)));
    }
    assertThat(Files.readString(PAGES.resolve("README.md")))
        .isEqualTo(Pages.index(all, Charts.main(all)));
    assertThat(Files.readString(ROOT.resolve("README.md"))).contains(Pages.readme(all, false));
    assertThat(Files.readString(ROOT.resolve("README.zh-CN.md"))).contains(Pages.readme(all, true));
    try (Stream<Path> files = Files.list(PAGES)) {
      assertThat(files
              .map(file -> file.getFileName().toString())
              .filter(file -> file.endsWith(".svg")))
          .containsExactlyInAnyOrderElementsOf(
              charts.stream().map(Charts.Chart::file).toList());
    }
  }
}
