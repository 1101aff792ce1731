// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.DoubleFunction;

/**
 * A chart as SVG: groups of rows, and in each row a name, a mark and the value. Every mark has a row of its own, so that no
 * label meets another. Bars begin at zero; on a logarithmic axis, which has no zero, the marks are dots.
 *
 * @param title what the chart shows
 * @param axis what the axis counts
 * @param legend what the colours stand for
 * @param logarithmic dots on a logarithmic axis instead of bars on a linear one
 * @param tick writes a number beside the axis
 * @param groups from top to bottom
 */
record Plot(
    String title,
    String axis,
    Map<Role, String> legend,
    boolean logarithmic,
    DoubleFunction<String> tick,
    List<Group> groups) {
  private static final int WIDTH = 880;
  private static final int EDGE = 12;
  private static final int GAP = 14;
  private static final int ROW = 20;
  private static final int TITLE = 24;
  private static final int LEGEND = 48;
  private static final int TOP = 64;
  /** From the middle of a row to the line that its letters stand on. */
  private static final int BASE = 4;

  private static final int BAR = 12;
  private static final double DOT = 4.5;
  private static final int GROUP_LETTERS = 24;
  private static final int MOST_TICKS = 6;
  private static final String STYLE = """
      text{font:13px Helvetica,Arial,"Liberation Sans","PingFang SC","Microsoft YaHei",sans-serif;fill:#1f2328}
      .title{font-size:15px;font-weight:bold}.group,.own{font-weight:bold}.quiet{fill:#59636e}
      line{stroke:#d1d9e0;stroke-width:1.5}.grid{stroke-width:1}rect,circle{stroke-width:0}
      .ours{fill:#1f5fbf;stroke:#1f5fbf}.peer{fill:#d9822b;stroke:#d9822b}
      .bare{fill:#3f9b55;stroke:#3f9b55}.floor{fill:#8a939c;stroke:#8a939c}
      @media(prefers-color-scheme:dark){text{fill:#e6edf3}.quiet{fill:#9da7b1}line{stroke:#3d444d}
      .ours{fill:#6ea8fe;stroke:#6ea8fe}.peer{fill:#f0a35e;stroke:#f0a35e}
      .bare{fill:#6cc484;stroke:#6cc484}.floor{fill:#7d8792;stroke:#7d8792}}
      """;

  /** A row: who, and what it reached. */
  record Mark(String name, Role role, double value, double least, double greatest, String text) {}

  /** Rows that are compared with each other. */
  record Group(String name, List<Mark> marks) {
    Group {
      marks = List.copyOf(marks);
    }

    /** A long name takes several lines. */
    private List<String> lines() {
      List<String> lines = new ArrayList<>();
      StringBuilder line = new StringBuilder();
      for (String word : name.split(" ", -1)) {
        if (!line.isEmpty() && line.length() + 1 + word.length() > GROUP_LETTERS) {
          lines.add(line.toString());
          line.setLength(0);
        }
        line.append(line.isEmpty() ? "" : " ").append(word);
      }
      lines.add(line.toString());
      return lines;
    }

    private int height() {
      return ROW * Math.max(marks.size(), lines().size());
    }
  }

  /** Where a number is on the paper. */
  private record Axis(double from, double to, double left, double right, boolean logarithmic) {
    double x(double value) {
      double part = logarithmic
          ? Math.log10(Math.max(value, from) / from) / Math.log10(to / from)
          : value / to;
      return left + part * (right - left);
    }
  }

  Plot {
    groups = List.copyOf(groups);
  }

  private List<Mark> marks() {
    return groups.stream().flatMap(group -> group.marks().stream()).toList();
  }

  /** Draws it. */
  String svg() {
    double names = EDGE
        + GAP
        + widest(groups.stream().flatMap(each -> each.lines().stream()).toList());
    double left = names + GAP + widest(marks().stream().map(Mark::name).toList());
    double right = WIDTH - EDGE - GAP - widest(marks().stream().map(Mark::text).toList());
    double step = step();
    Axis scale = axis(step, left, right);
    int bottom = TOP + groups.stream().mapToInt(group -> group.height() + GAP).sum();
    StringBuilder out = new StringBuilder(Text.of(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n",
        WIDTH, bottom + 2 * ROW + GAP, WIDTH, bottom + 2 * ROW + GAP));
    out.append(Text.of("<title>%s</title>%n<style>%n%s</style>%n", escaped(title), STYLE));
    text(out, "title", EDGE, TITLE, "start", title);
    legend(out);
    for (double at = scale.from();
        at <= scale.to() * 1.0001;
        at = logarithmic ? at * step : at + step) {
      out.append(line("grid", scale.x(at), TOP, scale.x(at), bottom));
      text(out, "quiet", scale.x(at), bottom + 16, "middle", tick.apply(at));
    }
    text(
        out, "quiet", Math.min(left, WIDTH - EDGE - width(axis)), bottom + 16 + ROW, "start", axis);
    int y = TOP;
    for (Group group : groups) {
      int row = y + GAP / 2 + ROW / 2;
      for (String line : group.lines()) {
        text(out, "group", EDGE, row + BASE, "start", line);
        row += ROW;
      }
      row = y + GAP / 2 + ROW / 2;
      for (Mark mark : group.marks()) {
        text(out, mark.role() == Role.OURS ? "own" : "", names, row + BASE, "start", mark.name());
        draw(out, mark, scale, row);
        row += ROW;
      }
      y += group.height() + GAP;
    }
    return out.append("</svg>\n").toString();
  }

  private void draw(StringBuilder out, Mark mark, Axis scale, int y) {
    String colour = colour(mark.role());
    double end = scale.x(mark.value());
    if (logarithmic) {
      if (mark.least() < mark.greatest()) {
        out.append(line(colour, scale.x(mark.least()), y, scale.x(mark.greatest()), y));
        end = scale.x(mark.greatest());
      }
      out.append(Text.of(
          "<circle class=\"%s\" cx=\"%.1f\" cy=\"%d\" r=\"%.1f\"/>%n",
          colour, scale.x(mark.value()), y, DOT));
      end = Math.max(end, scale.x(mark.value()) + DOT);
    } else {
      out.append(Text.of(
          "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>%n",
          colour, scale.left(), y - BAR / 2, end - scale.left(), BAR));
    }
    text(out, mark.role() == Role.OURS ? "own" : "", end + 5, y + BASE, "start", mark.text());
  }

  private void legend(StringBuilder out) {
    Set<Role> shown = EnumSet.noneOf(Role.class);
    marks().forEach(mark -> shown.add(mark.role()));
    double x = EDGE + DOT;
    for (Role role : shown) {
      String words = legend.getOrDefault(role, role.toString());
      out.append(Text.of(
          "<circle class=\"%s\" cx=\"%.1f\" cy=\"%d\" r=\"%.1f\"/>%n",
          colour(role), x, LEGEND - BASE, DOT));
      text(out, "", x + 10, LEGEND, "start", words);
      x += 10 + width(words) + 2 * GAP;
    }
  }

  /** From zero, or from one power of ten to another: there, what is nothing is at the edge. */
  private Axis axis(double step, double left, double right) {
    if (!logarithmic) {
      return new Axis(0, step * Math.ceil(greatest() / step), left, right, false);
    }
    double least = marks().stream()
        .mapToDouble(Mark::least)
        .filter(value -> value > 0)
        .min()
        .orElse(1);
    double from = Math.pow(10, Math.floor(Math.log10(least)));
    double to = Math.max(from * 10, Math.pow(10, Math.ceil(Math.log10(greatest()))));
    return new Axis(from, to, left, right, true);
  }

  /** The greatest number, or one if all of them are nothing. */
  private double greatest() {
    double greatest = marks().stream().mapToDouble(Mark::greatest).max().orElse(0);
    return greatest > 0 ? greatest : 1;
  }

  /** From one tick to the next: ten times as much, or one, two or five of a power of ten more. */
  private double step() {
    if (logarithmic) {
      return 10;
    }
    double least = greatest() / MOST_TICKS;
    double power = Math.pow(10, Math.floor(Math.log10(least)));
    return List.of(1, 2, 5, 10).stream()
        .mapToDouble(times -> times * power)
        .filter(step -> step >= least)
        .findFirst()
        .orElse(10 * power);
  }

  private static String colour(Role role) {
    return switch (role) {
      case OURS -> "ours";
      case BARE -> "bare";
      case PEER -> "peer";
      case FLOOR -> "floor";
    };
  }

  private static double widest(Collection<String> texts) {
    return texts.stream().mapToDouble(Plot::width).max().orElse(0);
  }

  /** Rather more than browsers make of it, in bold letters, too: which fonts they have is not known here. */
  private static double width(String text) {
    return text.codePoints().mapToDouble(letter -> letter >= 0x2e80 ? 13 : 8).sum();
  }

  private static String line(String colour, double x1, int y1, double x2, int y2) {
    return Text.of(
        "<line class=\"%s\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>%n",
        colour, x1, y1, x2, y2);
  }

  private static void text(
      StringBuilder out, String kind, double x, int y, String anchor, String text) {
    out.append(Text.of(
        "<text%s x=\"%.1f\" y=\"%d\"%s>%s</text>%n",
        kind.isEmpty() ? "" : " class=\"" + kind + "\"",
        x,
        y,
        anchor.equals("start") ? "" : " text-anchor=\"" + anchor + "\"",
        escaped(text)));
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
