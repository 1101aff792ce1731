// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Dimension;
import java.awt.Font;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGeneratorContext;
import org.apache.batik.svggen.SVGGraphics2D;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;
import org.w3c.dom.Document;

/** Draws what was measured: XChart draws, Batik writes SVG. White behind, so that dark pages show it, too. */
final class Charts {
  private static final int WIDTH = 960;
  private static final int HEIGHT = 420;
  private static final String SVG = "http://www.w3.org/2000/svg";
  private static final Color OURS = new Color(0x1f5fbf);
  private static final Color BARE = new Color(0x9dbfe8);
  private static final Color FLOOR = new Color(0x9a9a9a);
  private static final List<Color> OTHERS = List.of(
      new Color(0xd9822b),
      new Color(0x3f9b55),
      new Color(0xb4467a),
      new Color(0x7a5cc2),
      new Color(0xc7b02e),
      new Color(0x2f9ea0),
      new Color(0x8c5a3c));

  /** Files of the READMEs' charts. */
  private static final Map<Workload, String> MAIN = new EnumMap<>(
      Map.of(Workload.UNCONTENDED, "uncontended.svg", Workload.SHARED, "one-lock.svg"));

  static {
    // there need be no screen
    System.setProperty("java.awt.headless", "true");
  }

  /** One for each contender, the same as long as they are the same. */
  private static final class Colours {
    private final Map<String, Color> others = new LinkedHashMap<>();

    Color of(String who) {
      return switch (Role.of(who)) {
        case OURS -> OURS;
        case BARE -> BARE;
        case FLOOR -> FLOOR;
        case PEER -> others.computeIfAbsent(who, name -> OTHERS.get(others.size() % OTHERS.size()));
      };
    }
  }

  /** A file and what is in it. */
  record Chart(String file, String svg) {}

  private Charts() {}

  /** The charts of one group. */
  static List<Chart> of(Measured measured) throws IOException {
    String group = measured.group();
    List<Row> rates = measured.rows().stream()
        .filter(row -> row.workload().unit() == Unit.PER_SECOND && row.size() == 0)
        .filter(row -> row.store().equals(measured.rows().get(0).store()))
        .toList();
    List<Chart> charts = new ArrayList<>();
    if (rates.stream().anyMatch(row -> row.figures().size() > 1)) {
      Map<String, Map<String, Double>> byContender = new LinkedHashMap<>();
      for (Row row : rates) {
        for (Figure figure : row.figures()) {
          byContender
              .computeIfAbsent(figure.who(), who -> new LinkedHashMap<>())
              .put(row.workload().english(0), figure.median());
        }
      }
      charts.add(bars(
          group + "-throughput.svg",
          rates.get(0).store() + ": throughput",
          Unit.PER_SECOND.words(),
          rates.stream().map(row -> row.workload().english(0)).toList(),
          byContender));
    }
    for (Row row : measured.rows()) {
      if (row.workload() == Workload.HAND_OVER) {
        charts.add(waits(group + "-hand-over.svg", row, "from a release to the next grant"));
      } else if (row.workload() == Workload.PROCESSES) {
        charts.add(waits(group + "-waits.svg", row, "waits of 4 processes of 4 threads, one lock"));
      }
    }
    charts.addAll(growth(measured, Workload.WAITERS, "-waiters.svg", "threads that want one lock"));
    charts.addAll(
        growth(measured, Workload.LOCKS, "-locks.svg", "locks that 16 threads share out"));
    return charts;
  }

  /** A line for each contender, over the sizes. */
  private static List<Chart> growth(Measured measured, Workload workload, String file, String axis)
      throws IOException {
    List<Row> rows =
        measured.rows().stream().filter(row -> row.workload() == workload).toList();
    if (rows.isEmpty()) {
      return List.of();
    }
    XYChart chart = new XYChartBuilder()
        .width(WIDTH)
        .height(HEIGHT)
        .title(rows.get(0).store() + ": " + axis)
        .xAxisTitle(axis + " (logarithmic)")
        .yAxisTitle(workload.unit().words() + " (logarithmic)")
        .build();
    style(chart.getStyler());
    chart.getStyler().setXAxisLogarithmic(true);
    chart.getStyler().setXAxisDecimalPattern("#,##0");
    Colours colours = new Colours();
    for (String who : Measured.contenders(rows)) {
      XYSeries series = chart.addSeries(
          who,
          rows.stream().map(Row::size).toList(),
          rows.stream().map(row -> row.figure(who).median()).toList());
      series.setLineColor(colours.of(who));
      series.setLineStyle(new BasicStroke(2));
      series.setMarkerColor(colours.of(who));
      series.setMarker(SeriesMarkers.CIRCLE);
    }
    return List.of(new Chart(measured.group() + file, svg(chart)));
  }

  private static Chart waits(String file, Row row, String what) throws IOException {
    List<String> parts = List.of("p50 ms", "p99 ms", "max ms");
    Map<String, Map<String, Double>> byContender = new LinkedHashMap<>();
    for (Figure figure : row.figures()) {
      Map<String, Double> values = new LinkedHashMap<>();
      for (String part : parts) {
        // nothing and next to nothing are not to be seen at this scale
        if (figure.beside(part) > 0) {
          values.put(part, Math.max(0.001, figure.beside(part)));
        }
      }
      if (!values.isEmpty()) {
        byContender.put(figure.who(), values);
      }
    }
    return bars(file, row.store() + ": " + what, Unit.MILLIS.words(), parts, byContender);
  }

  /** What the READMEs show: each store, with its floor and the best of the others. */
  static List<Chart> main(List<Measured> all) throws IOException {
    List<Chart> charts = new ArrayList<>();
    for (Map.Entry<Workload, String> each : MAIN.entrySet()) {
      if (all.stream()
          .flatMap(measured -> measured.rows().stream())
          .anyMatch(row -> row.workload() == each.getKey())) {
        charts.add(main(all, each.getKey(), each.getValue()));
      }
    }
    return charts;
  }

  private static Chart main(List<Measured> all, Workload workload, String file) throws IOException {
    List<String> stores = new ArrayList<>();
    Map<String, Double> ours = new LinkedHashMap<>();
    Map<String, Double> floors = new LinkedHashMap<>();
    Map<String, Double> others = new LinkedHashMap<>();
    for (String store : Measured.stores(all)) {
      Measured.find(all, store, workload).ifPresent(row -> {
        stores.add(store);
        ours.put(store, row.ours().median());
        row.best(Role.PEER).ifPresent(peer -> others.put(store, peer.median()));
        // what a server does at most does not depend on who wants which lock
        Measured.find(all, store, Workload.UNCONTENDED)
            .flatMap(alone -> alone.best(Role.FLOOR))
            .ifPresent(floor -> floors.put(store, floor.median()));
      });
    }
    Map<String, Map<String, Double>> series = new LinkedHashMap<>();
    series.put(Peers.US, ours);
    series.put(Peers.FLOOR + ", one thread", floors);
    series.put("best other lock", others);
    return bars(
        file,
        "Acquire and release: " + workload.english(0),
        Unit.PER_SECOND.words(),
        stores,
        series);
  }

  private static Chart bars(
      String file,
      String title,
      String axis,
      List<String> categories,
      Map<String, Map<String, Double>> byContender)
      throws IOException {
    CategoryChart chart = new CategoryChartBuilder()
        .width(WIDTH)
        .height(HEIGHT)
        .title(title)
        .yAxisTitle(axis + " (logarithmic)")
        .build();
    style(chart.getStyler());
    double bottom = bottom(byContender);
    chart.getStyler().setYAxisMin(bottom);
    chart.getStyler().setAvailableSpaceFill(0.85);
    Colours colours = new Colours();
    for (Map.Entry<String, Map<String, Double>> each : byContender.entrySet()) {
      // who has no part in a workload has a bar without height
      List<Double> values = categories.stream()
          .map(category -> each.getValue().getOrDefault(category, bottom))
          .toList();
      CategorySeries series = chart.addSeries(each.getKey(), categories, values);
      series.setFillColor(colours.of(each.getKey()));
      series.setLineStyle(new BasicStroke(1));
    }
    return new Chart(file, svg(chart));
  }

  /** The power of ten below all values: bars need a bottom where there is no zero. */
  private static double bottom(Map<String, Map<String, Double>> byContender) {
    double least = byContender.values().stream()
        .flatMap(each -> each.values().stream())
        .mapToDouble(Double::doubleValue)
        .min()
        .orElse(1);
    return Math.pow(10, Math.ceil(Math.log10(least)) - 1);
  }

  private static void style(AxesChartStyler styler) {
    Font font = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
    Font bold = font.deriveFont(Font.BOLD);
    styler.setYAxisLogarithmic(true);
    styler.setYAxisDecimalPattern("#,##0.###");
    styler.setPlotGridVerticalLinesVisible(false);
    // dashes would be written one by one
    styler.setPlotGridLinesStroke(new BasicStroke(0.5f));
    styler.setAxisTickLabelsFont(font);
    styler.setAxisTitleFont(bold);
    styler.setChartBackgroundColor(Color.WHITE);
    styler.setPlotBackgroundColor(Color.WHITE);
    styler.setChartFontColor(Color.BLACK);
    styler.setLegendPosition(LegendPosition.OutsideE);
    styler.setLegendFont(font);
    styler.setChartTitleFont(bold.deriveFont(15f));
  }

  private static String svg(org.knowm.xchart.internal.chartpart.Chart<?, ?> chart)
      throws IOException {
    Document document;
    try {
      document = DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .getDOMImplementation()
          .createDocument(SVG, "svg", null);
    } catch (ParserConfigurationException e) {
      throw new IllegalStateException("a JDK has a parser", e);
    }
    SVGGeneratorContext context = SVGGeneratorContext.createDefault(document);
    // letters are outlines: fonts differ, and a digit more would double the file
    context.setPrecision(1);
    context.setComment("XChart, Batik");
    SVGGraphics2D canvas = new SVGGraphics2D(context, true);
    canvas.setSVGCanvasSize(new Dimension(WIDTH, HEIGHT));
    chart.paint(canvas, WIDTH, HEIGHT);
    StringWriter out = new StringWriter();
    canvas.stream(out, false);
    return out.toString();
  }
}
