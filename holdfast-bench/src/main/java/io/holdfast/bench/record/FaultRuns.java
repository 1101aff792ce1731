// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.record;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import io.holdfast.Holdfast;
import io.holdfast.verify.Protocol;
import io.holdfast.verify.Verdict;
import io.holdfast.verify.Verification;
import io.holdfast.verify.VerifySettings;
import io.holdfast.verify.VerifySettings.Fault;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Runs the verifier on servers of its own, with all faults: {@code dev/verify [--seed N] [--seconds N]
 * [--lease SECONDS] [--write] [STORE...]}.
 */
public final class FaultRuns {
  /** As short as can be, so that much happens: on a busy machine a request may not be answered in a third of it. */
  static final Duration LEASE = Duration.ofSeconds(2);

  private static final int CLIENTS = 8;
  private static final int USAGE = 64;
  private static final int LEASES = 12;
  private static final long SECONDS = 60;

  private final List<String> stores = new ArrayList<>();
  private long seed = ThreadLocalRandom.current().nextLong(1_000_000);
  private long seconds = SECONDS;
  private Duration lease = LEASE;
  private boolean write;

  private FaultRuns() {}

  /** Exits with 0 if nothing was broken, 1 if something was or nothing could be said, 64 for what it does not understand. */
  public static void main(String[] arguments) throws Exception {
    FaultRuns runs = new FaultRuns();
    if (!runs.understands(List.of(arguments))) {
      System.err.println(
          "usage: dev/verify [--seed N] [--seconds N] [--lease SECONDS] [--write] [STORE...]; the stores are "
              + String.join(", ", Servers.all().keySet()));
      System.exit(USAGE);
    }
    System.exit(runs.run() ? 0 : 1);
  }

  private boolean understands(List<String> arguments) {
    try {
      for (int i = 0; i < arguments.size(); i++) {
        switch (arguments.get(i)) {
          case "--seed" -> seed = Long.parseLong(arguments.get(++i));
          case "--seconds" -> seconds = Long.parseLong(arguments.get(++i));
          case "--lease" -> lease = Duration.ofSeconds(Long.parseLong(arguments.get(++i)));
          case "--write" -> write = true;
          default -> stores.add(arguments.get(i));
        }
      }
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      return false;
    }
    return Servers.all().keySet().containsAll(stores);
  }

  private boolean run() throws Exception {
    StringBuilder rows = new StringBuilder();
    StringBuilder outcomes = new StringBuilder();
    boolean passed = true;
    for (Map.Entry<String, Supplier<StartedServer>> each : Servers.all().entrySet()) {
      if (stores.isEmpty() || stores.contains(each.getKey())) {
        Survival survival = run(each.getKey(), each.getValue(), seed, seconds, lease);
        System.out.print(survival.row());
        survival.verdict().violations().forEach(System.out::println);
        rows.append(survival.row());
        outcomes.append(survival.outcomes());
        passed &= survival.passed();
      }
    }
    System.out.println("\n" + Survival.HEAD + rows + "\n" + Outcomes.HEAD + outcomes);
    if (write) {
      if (!stores.isEmpty()) {
        System.err.println("not written: the table has all stores, and this was a run of some");
        return false;
      }
      write("record", Survival.HEAD + rows);
      write("outcomes", Outcomes.HEAD + outcomes);
    }
    return passed;
  }

  /**
   * Runs the verifier on one server of its own, with all faults that it can be given.
   *
   * @param seconds for how long there are faults, at least: longer where leases are
   * @param wanted the lease, or that of the store if its shortest is longer
   */
  static Survival run(
      String store, Supplier<StartedServer> start, long seed, long seconds, Duration wanted)
      throws Exception {
    try (StartedServer server = start.get()) {
      Guarantees guarantees;
      try (Holdfast looks = Holdfast.connect(server.uri())) {
        guarantees = looks.guarantees();
      }
      Duration lease =
          guarantees.shortestLease().compareTo(wanted) > 0 ? guarantees.shortestLease() : wanted;
      // where leases are long, more time is needed for as many faults
      long most = Math.max(seconds, lease.toSeconds() * LEASES);
      Set<Fault> faults = EnumSet.of(Fault.PAUSE, Fault.KILL);
      faults.addAll(server.faults());
      VerifySettings settings = new VerifySettings(
          server.uri(),
          Protocol.HOLDFAST,
          Duration.ofSeconds(most),
          CLIENTS,
          lease,
          guarantees.wakesWithin(),
          faults,
          !guarantees.given().contains(Guarantee.IMMUNE_TO_CLOCK_STEPS),
          seed,
          java());
      System.out.println(store + ": "
          + faults.stream()
              .map(fault -> fault.name().toLowerCase(java.util.Locale.ROOT))
              .collect(Collectors.joining(", "))
          + ", " + most + " s, leases of " + lease.toSeconds() + " s");
      Verification verification = new Verification(settings, server, line -> {});
      Verdict verdict = verification.run();
      if (verdict.outcome() == Verdict.Outcome.BROKEN) {
        keep(verification, store);
      }
      return new Survival(
          store, server.version(), seed, seconds, wanted, guarantees, faults, verdict);
    }
  }

  /** Another run of the same seed is another run: what was seen in this one is kept. */
  private static void keep(Verification verification, String store) throws IOException {
    Path history = Files.createTempFile("holdfast-" + store, ".jsonl");
    try (Writer to = Files.newBufferedWriter(history)) {
      verification.writeHistory(to);
    }
    System.out.println("what happened is in " + history);
  }

  private static List<String> java() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xmx128m",
        "-cp",
        System.getProperty("java.class.path"));
  }

  /** Puts a table between its marks. */
  private static void write(String name, String table) throws IOException {
    Path page = Path.of("docs", "verification.md");
    String text = Files.readString(page);
    String first = "<!-- " + name + " -->\n";
    int begin = text.indexOf(first);
    int end = text.indexOf("<!-- /" + name + " -->");
    if (begin < 0 || end < begin) {
      throw new IOException(page + " has no marks for the table " + name);
    }
    Files.writeString(
        page, text.substring(0, begin + first.length()) + table + text.substring(end));
  }
}
