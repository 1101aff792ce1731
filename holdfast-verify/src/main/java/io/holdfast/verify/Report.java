// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Builds the page's data; the script in report.html draws it. */
final class Report {
  private static final int MOST_PICTURES = 50;
  private static final int MOST_TITLES = 5;
  private static final int MOST_BARS = 4000;
  private static final long AROUND_NANOS = 1_500_000_000L;

  private final Verdict verdict;
  private final RunSetup setup;
  private final VerifySettings settings;
  private final List<Fact> facts;
  private final List<Violation> violations;
  private final Map<String, List<Bar>> bars = new HashMap<>();
  private final long began;

  private Report(
      Verdict verdict,
      RunSetup setup,
      VerifySettings settings,
      List<Fact> facts,
      List<Violation> violations) {
    this.verdict = verdict;
    this.setup = setup;
    this.settings = settings;
    this.facts = facts;
    this.violations = violations;
    began = facts.isEmpty() ? 0 : facts.get(0).at();
    drawBars();
  }

  static String page(
      Verdict verdict,
      RunSetup setup,
      VerifySettings settings,
      List<Fact> facts,
      List<Violation> violations) {
    String data = new Report(verdict, setup, settings, facts, violations).data();
    return resource("report.html").replace("\"DATA\"", data);
  }

  private String data() {
    List<List<Violation>> pictures = pictures(violations);
    return "{\"outcome\":" + Json.quoted(verdict.outcome().name())
        + ",\"why\":" + Json.quoted(verdict.why())
        + ",\"store\":" + Json.quoted(setup.store())
        + ",\"began\":" + Json.quoted(setup.began().toString())
        + ",\"versions\":" + quoted(setup.versions())
        + ",\"command\":" + Json.quoted(setup.command())
        + ",\"protocol\":" + Json.quoted(settings.protocol().label())
        + ",\"text\":" + Json.quoted(settings.protocol().text())
        + ",\"seed\":" + Json.quoted(Long.toString(settings.seed()))
        + ",\"lease\":" + settings.lease().toMillis()
        + ",\"seconds\":" + settings.duration().toSeconds()
        + ",\"clients\":" + settings.clients()
        + ",\"faults\":"
        + quoted(
            settings.faults().stream().sorted().map(VerifySettings.Fault::label).toList())
        + ",\"judged\":[" + judged() + "]"
        + ",\"counts\":[" + counts() + "]"
        + ",\"story\":" + quoted(verdict.story())
        + ",\"run\":" + run()
        + ",\"all\":" + violations.size()
        + ",\"pictures\":" + pictures.size()
        + ",\"drawn\":["
        + pictures.stream()
            .limit(MOST_PICTURES)
            .map(this::picture)
            .collect(Collectors.joining(",\n"))
        + "]}";
  }

  private static String quoted(List<String> texts) {
    return texts.stream().map(Json::quoted).collect(Collectors.joining(",", "[", "]"));
  }

  private String judged() {
    return verdict.looks().entrySet().stream()
        .map(each -> "[" + Json.quoted(each.getKey().name()) + ","
            + Json.quoted(each.getKey().promise()) + "," + each.getValue() + ","
            + violations.stream()
                .filter(one -> one.invariant() == each.getKey())
                .count() + "]")
        .collect(Collectors.joining(","));
  }

  private String counts() {
    return verdict.counts().entrySet().stream()
        .map(each -> "[" + Json.quoted(each.getKey()) + "," + each.getValue() + "]")
        .collect(Collectors.joining(","));
  }

  /** The whole run, or its beginning where it has more holds than can be seen: a bar for each hold, and the faults. */
  private String run() {
    long end = facts.isEmpty() ? 0 : facts.get(facts.size() - 1).at();
    List<Bar> all = bars.values().stream()
        .flatMap(List::stream)
        .sorted(Comparator.comparingLong(bar -> bar.from))
        .toList();
    boolean isCut = all.size() > MOST_BARS;
    if (isCut) {
      end = all.get(MOST_BARS).from - 1;
    }
    return drawing(all, fact -> isFault(fact.what()), began, end, ",\"cut\":" + isCut);
  }

  /** Violations of one lock that are in sight of each other are one picture; they come in the order of time. */
  static List<List<Violation>> pictures(List<Violation> violations) {
    Map<String, List<Violation>> latest = new HashMap<>();
    List<List<Violation>> pictures = new ArrayList<>();
    for (Violation each : violations) {
      List<Violation> one = latest.get(each.fact().lock());
      if (one == null || each.fact().at() - one.get(0).fact().at() > AROUND_NANOS) {
        one = new ArrayList<>();
        latest.put(each.fact().lock(), one);
        pictures.add(one);
      }
      one.add(each);
    }
    return pictures;
  }

  /** Violations, and what was held around them. */
  private String picture(List<Violation> shown) {
    Fact first = shown.get(0).fact();
    long from = first.at() - AROUND_NANOS;
    long to = shown.get(shown.size() - 1).fact().at() + AROUND_NANOS;
    String titles = shown.stream()
        .limit(MOST_TITLES)
        .map(each -> Json.quoted(each.describe(began)))
        .collect(Collectors.joining(","));
    String wrong = shown.stream()
        .map(each ->
            "[" + Json.quoted(each.fact().worker()) + "," + millis(each.fact().at() - began) + "]")
        .collect(Collectors.joining(","));
    String more = ",\"titles\":[" + titles + "],\"more\":" + Math.max(0, shown.size() - MOST_TITLES)
        + ",\"wrong\":[" + wrong + "]";
    return drawing(
        bars.getOrDefault(first.lock(), List.of()),
        fact -> isMark(fact.what()) && (fact.lock().isEmpty() || fact.lock().equals(first.lock())),
        from,
        to,
        more);
  }

  private String drawing(
      List<Bar> shown, Predicate<Fact> isMarked, long from, long to, String more) {
    String held = shown.stream()
        .filter(bar -> bar.to >= from && bar.from <= to)
        .map(bar -> bar.toJson(began))
        .collect(Collectors.joining(","));
    String marks = facts.stream()
        .filter(each -> each.at() >= from && each.at() <= to)
        .filter(isMarked)
        .map(each -> "[" + Json.quoted(each.worker().isEmpty() ? "server" : each.worker()) + ","
            + millis(each.at() - began) + "," + Json.quoted(each.what().name()) + "]")
        .collect(Collectors.joining(","));
    return "{\"from\":" + millis(from - began) + ",\"to\":" + millis(to - began) + ",\"held\":["
        + held + "],\"marks\":[" + marks + "]" + more + "}";
  }

  /** From when to when each hold was believed in, by lock, in the order of the grants. */
  private void drawBars() {
    Map<String, Bar> open = new HashMap<>();
    for (Fact each : facts) {
      if (each.hold() == 0) {
        continue;
      }
      if (each.what() == What.ACQUIRED) {
        Bar bar = new Bar(each);
        open.put(each.key(), bar);
        bars.computeIfAbsent(each.lock(), lock -> new ArrayList<>()).add(bar);
      }
      Bar bar = open.get(each.key());
      if (bar != null) {
        bar.see(each);
      }
    }
  }

  /** Whether it is drawn at its moment beside a violation; the page has a sign for each of these. */
  static boolean isMark(What what) {
    return switch (what) {
      case ACCEPTED, REFUSED, LOST, NOT_MINE, TOO_LATE -> true;
      default -> isFault(what);
    };
  }

  /** Whether it was done to a process or to the server. */
  private static boolean isFault(What what) {
    return switch (what) {
      case PAUSED, RESUMED, KILLED, RESTARTED, CUT, HEALED, STEPPED, FAILING_OVER, FAILED_OVER ->
        true;
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

  /** From when to when a process believed in a hold. */
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

    /** Only a look that found it valid, and a write, show that it was believed in: a holder may have been stopped since. */
    void see(Fact fact) {
      switch (fact.what()) {
        case VALID, REENTERED, LEFT, ACCEPTED, REFUSED, RELEASING -> {
          if (!over) {
            to = fact.at();
          }
          over |= fact.what() == What.RELEASING;
        }
        case INVALID, LOST -> over = true;
        default -> {
          // its worker may be stopped or killed: nothing is known of what it believes in
        }
      }
    }

    String toJson(long began) {
      return "[" + Json.quoted(acquired.worker()) + "," + millis(from - began) + ","
          + millis(to - began) + "," + Json.quoted(Long.toString(acquired.token())) + ","
          + Json.quoted(acquired.lock().substring(acquired.lock().lastIndexOf('/') + 1)) + "]";
    }
  }
}
