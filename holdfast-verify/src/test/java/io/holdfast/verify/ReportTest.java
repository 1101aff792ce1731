// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.ServerPrograms;
import io.holdfast.verify.VerifySettings.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page, looked at in a browser that has no network. */
@Tag("stores")
class ReportTest {
  private static final Pattern CULPRIT =
      Pattern.compile("<rect x=\"([0-9.]+)\"[^>]* width=\"([0-9.]+)\" class=\"culprit\">");
  private static final long SECOND = 1_000_000_000L;

  @TempDir
  Path folder;

  private Path page = Path.of("");

  private static Fact fact(What what, double seconds, String worker, long token) {
    return new Fact(what, (long) (seconds * SECOND), worker, "x", 1, token, "");
  }

  /** A worker believes in its hold half a second too long, and was stopped meanwhile. */
  @BeforeEach
  void brokenRun() throws IOException {
    List<Fact> facts = List.of(
        fact(What.REQUESTED, 0, "0.0", 0),
        fact(What.ACQUIRED, 1, "0.0", 10),
        new Fact(What.PAUSED, SECOND * 3 / 2, "0.0", "", 0, 0, ""),
        Fact.of(What.CUT, SECOND * 8 / 5, ""),
        fact(What.ACQUIRED, 2, "1.0", 20),
        fact(What.VALID, 2.4, "1.0", 20),
        fact(What.VALID, 2.5, "0.0", 10));
    List<Violation> violations = Judgement.of(facts);
    assertThat(violations).hasSize(1);
    List<Fact> drawn = new ArrayList<>(facts);
    Arrays.stream(What.values())
        .filter(Report::isMark)
        .map(what -> Fact.of(what, SECOND * 2, ""))
        .forEach(drawn::add);
    Verdict verdict = new Verdict(
        Verdict.Outcome.BROKEN,
        Map.of("grants", 1234L),
        Invariant.looks(facts),
        List.of("I1"),
        List.of(Invariant.I1),
        List.of("a line", "and another"),
        "");
    write(verdict, drawn, violations);
  }

  private void write(Verdict verdict, List<Fact> facts, List<Violation> violations)
      throws IOException {
    RunSetup setup = new RunSetup(
        "redis://here/</script><b id=\"got-in\">",
        Instant.parse("2026-11-29T10:00:00Z"),
        List.of("holdfast 9.9", "Redis 8.0.2"),
        "holdfast verify --seed 7");
    page = folder.resolve("report.html");
    Files.writeString(
        page,
        Report.page(verdict, setup, Runs.with(false, Set.of(Fault.PAUSE)), facts, violations));
  }

  private String look(String... options) {
    List<String> arguments = new ArrayList<>(List.of(
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--user-data-dir=" + folder.resolve("profile")));
    arguments.addAll(List.of(options));
    arguments.add(page.toUri().toString());
    return ServerPrograms.run("chromium-headless-shell", arguments, "");
  }

  @Test
  void theBrowser_drawsWhoBelievedInWhat() {
    String seen = look("--dump-dom");
    assertThat(seen).contains("data-ready=\"yes\"").contains(">1,234</td>");
    assertThat(seen)
        .contains(
            "<h3>two holders at once (I1) at 2.500 s, worker 0.0, lock x, token 10: it believes in its hold, and worker 1.0 (hold 1) has the lock already</h3>",
            "<pre>a line\nand another</pre>",
            "broken once",
            "<td>only its holder ends a hold (I6)</td><td class=\"dim\">not looked at in this run</td>");
    assertThat(seen).contains("worker 0.0</text>", "worker 1.0</text>", "server</text>");
    assertThat(seen).contains("paused at 1500 ms", "cut at 1600 ms");
    Matcher culprit = CULPRIT.matcher(seen);
    assertThat(culprit.find()).as("a red bar").isTrue();
    // it is drawn from 1.0 s to 4.0 s, and its holder believed from 1.0 to 2.5
    double scale = (960 - 70 - 10) / 3.0;
    assertThat(Double.parseDouble(culprit.group(1))).isBetween(69.9, 70.1);
    assertThat(Double.parseDouble(culprit.group(2))).isBetween(1.5 * scale - 1, 1.5 * scale + 1);
  }

  /** What was run, where, how it is done again, each thing that was judged, and which process held what when. */
  @Test
  void aRunThatPassed_isShown() throws IOException {
    List<Fact> facts = List.of(
        fact(What.STARTED, 0, "0.0", 0),
        fact(What.ACQUIRED, 1, "0.0", 1),
        fact(What.VALID, 1.5, "0.0", 1),
        fact(What.VALID, 1.9, "0.0", 1),
        fact(What.RELEASING, 2, "0.0", 1),
        fact(What.RELEASED, 2, "0.0", 1),
        new Fact(What.KILLED, SECOND * 3, "1.0", "", 0, 0, ""),
        fact(What.ACQUIRED, 4, "1.1", 2),
        fact(What.END, 5, "", 0));
    Verdict verdict = new Verdict(
        Verdict.Outcome.PASSED,
        Map.of("grants", 2L),
        Invariant.looks(facts),
        List.of(),
        List.of(),
        List.of(),
        "");
    write(verdict, facts, List.of());
    String seen = look("--dump-dom");
    assertThat(seen)
        .contains("<span id=\"outcome\" class=\"PASSED\">passed</span>")
        .contains("holdfast 9.9", "Redis 8.0.2", "2026-11-29T10:00:00Z")
        .contains("2 processes, 10 s of faults (pause), leases of 1,000 ms, seed 7")
        .contains("<code>holdfast verify --seed 7</code>")
        .contains("<td>one holder at a time (I1)</td><td class=\"dim\">looked at 2 times</td>")
        .contains(
            "<td>a reentrant lock counts (I10)</td><td class=\"dim\">not looked at in this run</td>")
        .contains("lock x, held from 1000 to 2000 ms, token 1", "killed at 3000 ms")
        .doesNotContain("<h3>", "class=\"culprit", "class=\"no\"");
    // a process that takes the place of another one is in its row
    assertThat(seen).contains("worker 1</text>").doesNotContain("worker 1.0", "worker 1.1");
  }

  /** Those that one picture shows are not drawn again and again. */
  @Test
  void violationsOfOneMoment_areOnePicture() {
    List<Violation> violations =
        List.of(violation(1, "x"), violation(1.2, "x"), violation(1.3, "y"), violation(5, "x"));
    assertThat(Report.pictures(violations)).extracting(List::size).containsExactly(2, 1, 1);
  }

  private static Violation violation(double seconds, String lock) {
    return new Violation(
        Invariant.I1,
        "it believes",
        new Fact(What.VALID, (long) (seconds * SECOND), "0.0", lock, 1, 1, ""));
  }

  /** One without a sign would be a place on the page that only a mouse finds. */
  @Test
  void whateverIsMarked_hasASign() {
    String seen = look("--dump-dom");
    assertThat(seen).contains("failed_over at 2000 ms").doesNotContainPattern("<text[^>]*><title>");
  }

  /** A name is a text, whatever is in it. */
  @Test
  void theStoresName_isNoMarkup() {
    assertThat(look("--dump-dom"))
        .contains("redis://here/&lt;/script&gt;&lt;b id=\"got-in\"&gt;")
        .doesNotContain("<b id=");
  }
}
