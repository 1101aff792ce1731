// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import io.holdfast.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.openjdk.jmh.runner.RunnerException;

/** Counts what locks cost, and compares it with the table: {@code dev/guard [--write | STORE... | bytes]}. */
public final class Guard {
  private static final String HEAD = """
      # What a lock asks for

      Counted, not timed, so that a busy machine gives the same numbers: made by \
      `dev/guard --write`, and compared by `GuardTest`, which fails on more and on
      less. More has to have a reason, and less is to stay. Two clients of one process, default \
      options, a server of its own for each store. What is counted is
      what the server says that it was asked (for the map in memory, what the engine asks of the \
      store; for SQLite, what its log has). "Within" is between waiters of
      one client, who need no server. Nothing happens because time has passed, but for the last \
      column: there the clocks are set forward by 12 s, once.

      """;

  /** The JDK that CI builds with first; on others, classes may be of other sizes. */
  private static final int JDK = 17;

  private static final String BYTES =
      "Bytes of memory that one of each takes, of all threads, on JDK " + JDK
          + ", by JMH's GC profiler with the JVM's first compiler alone (the second one removes\n"
          + "some, more or less of them at each run). They may differ by " + GuardTable.PERCENT
          + " %, or " + GuardTable.FEW_BYTES
          + " bytes. On other JDKs they are not looked at.\n";

  /** Kept, since a logger that nobody has forgets its level. */
  private static final Logger LOGGER = Logger.getLogger("io.holdfast");

  private Guard() {}

  /** Counts all, or some, and says what differs; or writes the table. */
  public static void main(String[] args) throws Exception {
    List<String> names = List.of(args);
    boolean write = names.contains("--write");
    List<String> known = Arrays.stream(Subjects.values()).map(Subjects::title).toList();
    boolean isWrong = write
        ? names.size() > 1
        : !names.stream().allMatch(name -> known.contains(name) || name.equals(GuardTable.BYTES));
    if (isWrong) {
      System.err.println("usage: dev/guard [--write | STORE... | bytes]; the stores are "
          + String.join(", ", known));
      System.exit(64);
    }
    if (write) {
      if (Runtime.version().feature() != JDK) {
        System.err.println("the table is written on JDK " + JDK + ", this is " + Runtime.version());
        System.exit(64);
      }
      System.setProperty("holdfast.stores", "required");
    }
    long begun = Ticker.system().nanos();
    GuardTable measured = measure(name -> write || names.isEmpty() || names.contains(name));
    System.out.println(measured.text());
    System.out.println((Ticker.system().nanos() - begun) / 1_000_000_000 + " s");
    if (write) {
      Files.writeString(file(Path.of("")), document(measured));
      return;
    }
    List<String> complaints = read(Path.of("")).complaints(measured);
    complaints.forEach(System.out::println);
    System.exit(complaints.isEmpty() ? 0 : 1);
  }

  private static Path file(Path root) {
    return root.resolve(Path.of("docs", "benchmarks", "guard.md"));
  }

  /** Reads the table that is checked in. */
  static GuardTable read(Path root) throws IOException {
    return GuardTable.parse(Files.readString(file(root)));
  }

  /** Measures everything that can be measured here. */
  static GuardTable measure() throws Exception {
    return measure(name -> true);
  }

  private static GuardTable measure(Predicate<String> which) throws Exception {
    // the clocks jump here, and it would say so each time
    LOGGER.setLevel(Level.SEVERE);
    Map<String, Map<String, Long>> rows = new LinkedHashMap<>();
    for (Subjects each : Subjects.values()) {
      if (which.test(each.title()) && each.isMeasured()) {
        try (Subject subject = each.start()) {
          Counting.of(each.title(), subject)
              .forEach((what, counts) -> counts.forEach((counter, count) -> rows.computeIfAbsent(
                      each.title() + ", " + counter, name -> new LinkedHashMap<>())
                  .put(what, count)));
        }
      }
    }
    if (which.test(GuardTable.BYTES) && Runtime.version().feature() == JDK) {
      rows.putAll(bytes());
    }
    return new GuardTable(rows);
  }

  private static Map<String, Map<String, Long>> bytes() throws RunnerException {
    Map<String, Map<String, Long>> rows = new LinkedHashMap<>();
    Allocations.measure()
        .forEach((what, bytes) -> rows.put(what, Map.of(GuardTable.BYTES, Math.round(bytes))));
    return rows;
  }

  private static String document(GuardTable measured) {
    String tables = measured.text();
    int second = tables.indexOf("\n\n") + 1;
    return HEAD + tables.substring(0, second) + "\n" + BYTES + tables.substring(second);
  }
}
