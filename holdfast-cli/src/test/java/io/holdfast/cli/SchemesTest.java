// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import io.holdfast.verify.Protocol;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The commands of docs/schemes.md, run as they stand there, on servers of ours in place of the page's: each flawed scheme is
 * caught with what the page says, and where it needs servers or faults of its own for that, Holdfast passes there.
 */
@Tag("all")
class SchemesTest {
  private static final Path PAGE = Path.of("..", "docs", "schemes.md");
  private static final Pattern COMMAND =
      Pattern.compile("(?m)^holdfast (verify .*?) +# (BROKEN: (I\\d+)|PASSED)$");

  /** How many seeds a flawed scheme may take to be caught. */
  private static final int SEEDS = 5;

  private static final int AT_ONCE = 2;

  @RegisterExtension
  final Processes processes = new Processes();

  /** A command of the page, and what it is to end with. */
  record Shown(List<String> options, String outcome) {
    static Shown of(MatchResult found) {
      List<String> words = Arrays.stream(found.group(1).split(" "))
          .map(word -> word.replace("'", ""))
          .toList();
      return new Shown(words, found.group(2));
    }

    String option(String name) {
      int at = options.indexOf(name);
      return at < 0 ? "" : options.get(at + 1);
    }

    boolean passes() {
      return outcome.equals("PASSED");
    }

    @Override
    public String toString() {
      return (passes() ? "holdfast on " + option("--store") : option("--protocol")) + ": "
          + outcome;
    }
  }

  static List<Shown> commands() throws IOException {
    return COMMAND.matcher(Files.readString(PAGE)).results().map(Shown::of).toList();
  }

  /** Some of one server's at a time: most of a run is waiting. Those that have to pass are alone. */
  static List<List<Shown>> batches() throws IOException {
    List<List<Shown>> batches = new ArrayList<>();
    for (Shown each : commands()) {
      List<Shown> last = batches.isEmpty() ? List.of() : batches.get(batches.size() - 1);
      boolean joins = last.size() % AT_ONCE != 0
          && !each.passes()
          && !last.get(0).passes()
          && last.get(0).option("--store").equals(each.option("--store"));
      if (!joins) {
        batches.add(new ArrayList<>());
      }
      batches.get(batches.size() - 1).add(each);
    }
    return batches;
  }

  @ParameterizedTest
  @MethodSource("batches")
  void command_endsAsThePageSays(List<Shown> batch) {
    try (Place place = Place.of(batch.get(0).option("--store"))) {
      List<Job> jobs =
          batch.stream().map(shown -> run(shown, place.uri, firstSeed(shown))).toList();
      for (int i = 0; i < jobs.size(); i++) {
        Job job = jobs.get(i);
        if (batch.get(i).passes()) {
          assertThat(job.exitCode()).as(job::toString).isZero();
          assertThat(job.stdout()).contains("PASSED");
        } else {
          check(
              caught(job, batch.get(i), place.uri), Protocol.of(batch.get(i).option("--protocol")));
        }
      }
    }
  }

  /** The first run that was broken as the page says: this one, or one with another seed. */
  private Job caught(Job first, Shown shown, String uri) {
    Job job = first;
    for (int i = 1; !isBroken(job, shown); i++) {
      assertThat(i).as("a seed that does not catch it: %s", job).isLessThanOrEqualTo(SEEDS);
      job = run(shown, uri, firstSeed(shown) + i);
    }
    return job;
  }

  /** The names of the locks are made from the seed: two schemes on one server must not meet. */
  private static int firstSeed(Shown shown) {
    List<String> protocols =
        Arrays.stream(Protocol.values()).map(Protocol::label).toList();
    return 100 * (1 + protocols.indexOf(shown.option("--protocol")));
  }

  private void check(Job job, Protocol protocol) {
    assertThat(job.exitCode()).as(job::toString).isEqualTo(1);
    assertThat(job.stdout())
        .contains(protocol.text(), "Which process held the lock when:", "  <- ")
        .endsWith("What to do instead: docs/schemes.md#" + protocol.label() + "\n");
    assertThat(processes.read(protocol.label() + ".html"))
        .contains("\"outcome\":\"BROKEN\"", "\"drawn\":[{\"from\":")
        // nothing is fetched
        .doesNotContain("src=", "href=", "@import")
        .doesNotContain("\"DATA\"");
  }

  /** The driver of the command serves MySQL too; the page shows PostgreSQL. */
  @Test
  void sqlScheme_onMySql() throws IOException {
    Shown shown = commands().stream()
        .filter(each -> each.option("--protocol").equals(Protocol.SQL_NO_OWNER.label()))
        .findAny()
        .orElseThrow();
    String uri = SqlKind.MYSQL.shared().storeUri();
    check(caught(run(shown, uri, firstSeed(shown)), shown, uri), Protocol.SQL_NO_OWNER);
  }

  /** What a run prints leads to the page, where each flawed scheme has a place and a command, in the order of the list. */
  @Test
  void everyProtocol_hasItsPlace() throws IOException {
    List<String> protocols = Arrays.stream(Protocol.values())
        .filter(each -> each.breaks().isPresent())
        .map(each -> each.label() + ": BROKEN: " + each.breaks().orElseThrow().name())
        .toList();
    assertThat(commands().stream().filter(each -> !each.passes()).map(Shown::toString))
        .containsExactlyElementsOf(protocols);
    String page = Files.readString(PAGE);
    assertThat(Pattern.compile("<a id=\"([^\"]+)\">")
            .matcher(page)
            .results()
            .map(found -> found.group(1) + ": ")
            .toList())
        .allSatisfy(place -> assertThat(protocols).anyMatch(protocol -> protocol.startsWith(place)))
        .hasSameSizeAs(protocols);
    // no command is left out because it does not look like one
    assertThat(page.lines().filter(line -> line.startsWith("holdfast "))).hasSameSizeAs(commands());
  }

  private Job run(Shown shown, String uri, int seed) {
    List<String> line = new ArrayList<>(shown.options);
    line.set(line.indexOf("--store") + 1, uri);
    String report = shown.passes() ? "passed.html" : shown.option("--protocol") + ".html";
    if (!line.contains("--yes")) {
      line.add("--yes");
    }
    Stream.of("--clients", "3", "--seed", Integer.toString(seed), "--report", report)
        .forEach(line::add);
    return processes.holdfast(line.toArray(String[]::new));
  }

  private static boolean isBroken(Job job, Shown shown) {
    // it has ended then, and all that it prints is there
    assertThat(job.exitCode()).as(job::toString).isIn(0, 1, 3);
    String invariant = shown.outcome.substring(shown.outcome.indexOf('I'));
    return Pattern.compile("BROKEN: .*\\(" + invariant + "\\)")
        .matcher(job.stdout())
        .find();
  }

  /** Servers of ours in place of those that the page names. */
  record Place(String uri, Runnable end) implements AutoCloseable {
    static Place of(String store) {
      String scheme = store.substring(0, store.indexOf("://"));
      String parameters = store.contains("?") ? store.substring(store.indexOf('?')) : "";
      return switch (scheme) {
        case "jdbc:postgresql" -> on(SqlKind.POSTGRESQL.shared().storeUri());
        case "redis" -> on(RedisTopology.SINGLE.uri());
        case "redlock" -> on(RedisTopology.REDLOCK.uri());
        case "zookeeper" -> {
          ZooKeeperServer server = ZooKeeperServer.alone();
          yield new Place("zookeeper://" + server.address(), server::close);
        }
        case "redis-sentinel" -> {
          RedisPair pair = new RedisPair();
          yield new Place(pair.uri() + parameters, pair::close);
        }
        default -> throw new IllegalArgumentException("no server for " + store);
      };
    }

    static Place on(String uri) {
      return new Place(uri, () -> {});
    }

    @Override
    public void close() {
      end.run();
    }
  }
}
