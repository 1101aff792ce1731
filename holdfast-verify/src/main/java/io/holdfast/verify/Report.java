// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** The page: its script, which draws, is a resource beside this class; here is what it draws. */
final class Report {
  private static final int MOST_DRAWN = 50;
  private static final long AROUND_NANOS = 1_500_000_000L;

  private Report() {}

  static String page(
      Verdict verdict,
      String store,
      VerifySettings settings,
      List<Fact> facts,
      List<Violation> violations) {
    long began = facts.isEmpty() ? 0 : facts.get(0).at();
    String drawn = violations.stream()
        .limit(MOST_DRAWN)
        .map(each -> violation(each, facts, began))
        .collect(Collectors.joining(",\n"));
    String counts = verdict.counts().entrySet().stream()
        .map(each -> "[" + Json.quoted(each.getKey()) + "," + each.getValue() + "]")
        .collect(Collectors.joining(","));
    String data = "{\"outcome\":" + Json.quoted(verdict.outcome().name())
        + ",\"why\":" + Json.quoted(verdict.why())
        + ",\"store\":" + Json.quoted(store)
        + ",\"protocol\":" + Json.quoted(settings.protocol().label())
        + ",\"text\":" + Json.quoted(settings.protocol().text())
        + ",\"seed\":" + Json.quoted(Long.toString(settings.seed()))
        + ",\"lease\":" + settings.lease().toMillis()
        + ",\"all\":" + violations.size()
        + ",\"counts\":[" + counts + "],\"violations\":[" + drawn + "]}";
    return resource("report.html").replace("\"DATA\"", data);
  }

  /** A violation, and what was held around it. */
  private static String violation(Violation violation, List<Fact> facts, long began) {
    Fact at = violation.fact();
    long from = at.at() - AROUND_NANOS;
    long to = at.at() + AROUND_NANOS;
    Map<String, Bar> bars = new LinkedHashMap<>();
    List<String> marks = new ArrayList<>();
    for (Fact each : facts) {
      boolean near = each.at() >= from && each.at() <= to;
      if (each.what() == What.ACQUIRED && each.lock().equals(at.lock())) {
        bars.put(each.key(), new Bar(each));
      }
      Bar bar = bars.get(each.key());
      if (bar != null) {
        bar.see(each);
      }
      if (near && isMark(each.what()) && (each.lock().isEmpty() || each.lock().equals(at.lock()))) {
        marks.add("[" + Json.quoted(each.worker().isEmpty() ? "server" : each.worker()) + ","
            + millis(each.at() - began) + "," + Json.quoted(each.what().name()) + "]");
      }
    }
    String held = bars.values().stream()
        .filter(bar -> bar.to >= from && bar.from <= to)
        .map(bar -> bar.toJson(began))
        .collect(Collectors.joining(","));
    return "{\"title\":" + Json.quoted(violation.describe(began))
        + ",\"worker\":" + Json.quoted(at.worker())
        + ",\"at\":" + millis(at.at() - began)
        + ",\"from\":" + millis(from - began)
        + ",\"to\":" + millis(to - began)
        + ",\"held\":[" + held + "],\"marks\":[" + String.join(",", marks) + "]}";
  }

  /** Whether it is drawn at its moment; the page has a sign for each of these. */
  static boolean isMark(What what) {
    return switch (what) {
      case PAUSED,
          RESUMED,
          KILLED,
          ACCEPTED,
          REFUSED,
          LOST,
          NOT_MINE,
          TOO_LATE,
          RESTARTED,
          CUT,
          HEALED,
          STEPPED,
          FAILING_OVER,
          FAILED_OVER -> true;
      default -> false;
    };
  }

  private static String millis(long nanos) {
    return Double.toString(nanos / 1e6);
  }

  private static String resource(String name) {
    try (InputStream in =
        Objects.requireNonNull(Report.class.getResourceAsStream(name), "the page is missing")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** From when to when somebody believed in a hold. */
  private static final class Bar {
    final Fact acquired;
    final long from;
    long to;
    boolean over;

    Bar(Fact acquired) {
      this.acquired = acquired;
      from = acquired.at();
      to = acquired.at();
    }

    void see(Fact fact) {
      if (!over) {
        to = fact.at();
      }
      over |=
          fact.what() == What.RELEASING || fact.what() == What.INVALID || fact.what() == What.LOST;
    }

    String toJson(long began) {
      return "[" + Json.quoted(acquired.worker()) + "," + millis(from - began) + ","
          + millis(to - began) + "," + Json.quoted(Long.toString(acquired.token())) + "]";
    }
  }
}
