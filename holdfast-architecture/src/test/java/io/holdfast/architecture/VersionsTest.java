// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.ServerOptions;
import io.holdfast.testkit.process.ServerPrograms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The table of supported versions is what the contract was run on. Checked are the servers that {@code dev/servers} has
 * fetched, and those that Maven brings: all in tier "all", the newest ones in "stores" with all stores required. {@code
 * -Dholdfast.versions=write} writes what this run has seen into it.
 */
@Tag("matrix")
class VersionsTest {
  private static final Path PAGE = Sources.ROOT.resolve("docs").resolve("versions.md");

  /** A version without what changes with every patch: all numbers but the last. */
  private static final Pattern SEEN =
      Pattern.compile("^\\S+ +(\\S+) (\\d+(?:\\.\\d+)*)\\.\\d+(?= |$)(.*)");

  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| (\\S+) \\| (\\d[\\d.]*) \\| (\\d[\\d.]*) \\|(.*)$");

  /** What the table says of a server. */
  private record Versions(String oldest, String newest) {
    Versions withOldest(String version) {
      return new Versions(version, newest);
    }

    Versions withNewest(String version) {
      return new Versions(oldest.equals(newest) ? version : oldest, version);
    }
  }

  @Test
  void theTable_isWhatWasTested() throws IOException {
    String page = Files.readString(PAGE);
    Map<String, Versions> table = table(page);
    SortedMap<String, Versions> seen = new TreeMap<>(table);
    Matrix.read().run().forEach((store, row) -> note(store, row, seen));
    if ("write".equals(System.getProperty("holdfast.versions"))) {
      Files.writeString(PAGE, ROW.matcher(page).replaceAll(row -> {
        Versions versions = seen.getOrDefault(row.group(1), new Versions("", ""));
        return Matcher.quoteReplacement("| " + row.group(1) + " | " + versions.oldest() + " | "
            + versions.newest() + " |" + row.group(4));
      }));
    } else {
      assertThat(seen)
          .as("docs/versions.md; -Dholdfast.versions=write renews it")
          .isEqualTo(table);
    }
  }

  /** Tests refuse a server that is older than that: a table with an older one would promise what no test runs on. */
  @Test
  void theOldest_areThoseThatTestsUse() throws IOException {
    Map<String, String> documented = new HashMap<>();
    table(Files.readString(PAGE))
        .forEach((server, versions) ->
            documented.put(server.toLowerCase(Locale.ROOT), versions.oldest()));
    Map<String, String> used = new HashMap<>();
    StoresTest.PROGRAMS.forEach((store, program) ->
        used.put(store.replace("redlock", "redis"), ServerPrograms.oldest(program)));
    assertThat(documented).containsAllEntriesOf(used);
  }

  /** Puts what a row of the matrix shows into the place that the table has for it. */
  private static void note(String store, String row, Map<String, Versions> seen) {
    Matcher found = SEEN.matcher(row);
    boolean isOurs = ServerOptions.areRequired() || StoresTest.FAST.contains(store);
    boolean isOther = row.contains("container ") || row.contains("(older than wanted");
    if (!isOurs || isOther || !isFetched(store) || !found.find()) {
      return;
    }
    String version = found.group(2);
    boolean isOldest = store.endsWith(Matrix.OLDEST);
    seen.compute(
        found.group(1),
        (server, known) -> known == null
            ? new Versions(version, version)
            : isOldest ? known.withOldest(version) : known.withNewest(version));
  }

  /** The oldest ones are taken from nowhere else. */
  private static boolean isFetched(String store) {
    return store.endsWith(Matrix.OLDEST)
        || StoresTest.program(store).map(ServerPrograms::isFetched).orElse(true);
  }

  private static Map<String, Versions> table(String page) {
    Map<String, Versions> table = new LinkedHashMap<>();
    Matcher row = ROW.matcher(page);
    while (row.find()) {
      table.put(row.group(1), new Versions(row.group(2), row.group(3)));
    }
    assertThat(table).as("the table").isNotEmpty();
    return table;
  }
}
