// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import io.holdfast.Holdfast;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Stores;
import io.holdfast.verify.Protocol;
import io.holdfast.verify.Verdict;
import io.holdfast.verify.Verification;
import io.holdfast.verify.VerifySettings;
import io.holdfast.verify.VerifySettings.Fault;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast verify}. */
@Command(
    name = "verify",
    header =
        "Proves the locks on your own store: processes that are stopped and killed, and a judge.",
    description = {
      "",
      "Starts processes that take locks under names of their own (holdfast-verify/...), hold them around the length of a"
          + " lease, and write to a resource that checks tokens; stops and kills some of them; and judges what happened."
          + " Exits with 0 if nothing was broken, 1 if something was, 3 if nothing can be said: nobody got a lock, no fault"
          + " took place, or the store was away in the end; 71 if a process cannot be started or stopped, or the sentinels do"
          + " not fail over.",
      "",
      "With --protocol it runs a lock from the textbooks instead, which ends with the violation that it is known for: so"
          + " one sees that the judge catches what is wrong.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  holdfast verify --store redis://localhost:6379 --duration 60s --report out.html",
      "  holdfast verify --store redis://localhost:6379 --protocol redis-del",
      "  holdfast verify --list"
    },
    sortOptions = false)
final class VerifyCommand implements Callable<Integer> {
  private static final Duration USUAL_LEASE = Duration.ofSeconds(2);
  private static final int REMARKS_ON_UNSAFE = 23;
  private static final int MOST_SAID = 10;

  /** Where the launcher has put SQLite's library: a worker that is killed could not remove a copy of its own. */
  private static final List<String> PASSED_ON =
      List.of("org.sqlite.lib.path", "org.sqlite.lib.name", "java.io.tmpdir");

  private static final String OURS = "holdfast-verify/";

  @Mixin
  StoreOption store = new StoreOption();

  @Option(
      names = "--duration",
      paramLabel = "D",
      description = "For how long there are faults (60s; 1h at most).")
  Duration duration = Duration.ofSeconds(60);

  @Option(names = "--clients", paramLabel = "N", description = "How many processes (8; 2 to 64).")
  int clients = 8;

  @Option(
      names = "--lease",
      paramLabel = "D",
      description = "How long a lease is (2s, or the shortest that the store has).")
  @Nullable
  Duration lease;

  @Option(
      names = "--faults",
      paramLabel = "FAULT",
      split = ",",
      description =
          "pause, kill, or none, which proves nothing (pause,kill). With a redis-sentinel: address also failover: the replicas"
              + " fall behind by a lease, then the sentinels are asked for a failover, which all who use these servers feel; it"
              + " is asked whether that is meant. A store's server that is restarted, cut off or has another time is yours to"
              + " arrange while this runs.")
  List<String> faults = List.of("pause", "kill");

  @Option(
      names = "--protocol",
      paramLabel = "NAME",
      description = "A lock from the textbooks; --list has them.")
  String protocol = Protocol.HOLDFAST.label();

  @Option(names = "--list", description = "Print the protocols, and what is known of them.")
  boolean list;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Decides who is hit and when; the machine and the store decide the rest.")
  @Nullable
  Long seed;

  @Option(
      names = "--history",
      paramLabel = "FILE",
      description = "Write all that happened, one JSON object in a line.")
  @Nullable
  Path history;

  @Option(names = "--report", paramLabel = "FILE", description = "Write a page for a browser.")
  @Nullable
  Path report;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask, even if the store has other locks, or is to fail over.")
  boolean yes;

  @Mixin
  Verbosity verbosity = new Verbosity();

  @Override
  public Integer call() throws InterruptedException {
    if (list) {
      list();
      return Exit.OK;
    }
    Messages messages = verbosity.messages();
    StoreChoice choice = store.choose(messages);
    Protocol chosen = protocol();
    Guarantees guarantees = lookAround(choice);
    VerifySettings settings = settings(choice, chosen, guarantees);
    if (settings.faults().contains(Fault.FAILOVER)) {
      Question.confirm(
          "the servers will fail over, and forget what their replicas do not know", yes);
    }
    messages.note("store " + choice + ", protocol " + chosen.label() + ", lease "
        + settings.lease().toMillis() + " ms, seed " + settings.seed());
    Verification verification =
        new Verification(settings, Terminal.is(2) ? messages::progress : line -> {});
    // opened before: who waits for a verdict should not be told then that it cannot be written
    try (Writer facts = open(history);
        Writer page = open(report)) {
      Verdict verdict = run(verification, messages, facts);
      verification.writeReport(verdict, choice.toString(), page);
      return say(verdict, chosen);
    } catch (IOException e) {
      throw new CliException(Exit.CANNOT_CREATE, Failures.oneLine(String.valueOf(e)), e);
    }
  }

  /** Runs, and writes down what was seen; also of a run that comes to no end, for that is not to be had again. */
  private static Verdict run(Verification verification, Messages messages, Writer facts)
      throws IOException, InterruptedException {
    Verdict verdict;
    try {
      verdict = run(verification);
    } catch (CliException | InterruptedException e) {
      try {
        verification.writeHistory(facts);
      } catch (IOException second) {
        e.addSuppressed(second);
      }
      throw e;
    } finally {
      messages.clearProgress();
      if (!verification.leftover().isEmpty()) {
        messages.error(verification.leftover());
      }
    }
    verification.writeHistory(facts);
    return verdict;
  }

  /** A process that does not start, or cannot be stopped, is the system's, and no file that cannot be written. */
  private static Verdict run(Verification verification) throws InterruptedException {
    try {
      return verification.run();
    } catch (IOException e) {
      throw new CliException(
          Exit.SYSTEM, "no verdict: " + Failures.oneLine(String.valueOf(e.getMessage())), e);
    } catch (RuntimeException e) {
      throw Failures.explain(e);
    }
  }

  private static Writer open(@Nullable Path file) throws IOException {
    return file == null
        ? Writer.nullWriter()
        : Files.newBufferedWriter(file, StandardCharsets.UTF_8);
  }

  private static void list() {
    for (Protocol each : Protocol.values()) {
      String breaks =
          each.breaks().isEmpty() ? "" : " (breaks " + String.join(", ", each.breaks()) + ")";
      Output.print(each.label() + breaks);
      Output.print("    " + each.text());
    }
  }

  private Protocol protocol() {
    try {
      return Protocol.of(protocol);
    } catch (IllegalArgumentException e) {
      throw new CliException(Exit.USAGE, String.valueOf(e.getMessage()));
    }
  }

  private VerifySettings settings(StoreChoice choice, Protocol chosen, Guarantees guarantees) {
    Duration usual = guarantees.shortestLease().compareTo(USUAL_LEASE) > 0
        ? guarantees.shortestLease()
        : USUAL_LEASE;
    try {
      return new VerifySettings(
          choice.uri(),
          chosen,
          duration,
          clients,
          lease == null ? usual : lease,
          guarantees.wakesWithin(),
          faults(),
          !guarantees.given().contains(Guarantee.IMMUNE_TO_CLOCK_STEPS),
          seed == null ? ThreadLocalRandom.current().nextLong(1_000_000) : seed,
          java());
    } catch (IllegalArgumentException e) {
      throw new CliException(Exit.USAGE, String.valueOf(e.getMessage()));
    }
  }

  private Set<Fault> faults() {
    Set<Fault> chosen = EnumSet.noneOf(Fault.class);
    for (String each : faults) {
      switch (each.strip().toLowerCase(Locale.ROOT)) {
        case "pause" -> chosen.add(Fault.PAUSE);
        case "kill" -> chosen.add(Fault.KILL);
        case "failover" -> chosen.add(Fault.FAILOVER);
        case "none", "" -> {
          // said for those who want to see the store without any
        }
        default ->
          throw new CliException(
              Exit.USAGE,
              "the fault \"" + each
                  + "\" cannot be injected from here, where the server is not ours; there are pause, kill, failover and none");
      }
    }
    return chosen;
  }

  /** How to start a Java program that is like this one. */
  private static List<String> java() {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current()
        .info()
        .command()
        .orElseGet(() -> Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    // drivers do what newer JDKs remark on
    command.add("--enable-native-access=ALL-UNNAMED");
    if (Runtime.version().feature() >= REMARKS_ON_UNSAFE) {
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
    for (String each : PASSED_ON) {
      String value = System.getProperty(each);
      if (value != null) {
        command.add("-D" + each + "=" + value);
      }
    }
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    return command;
  }

  /** Connects, so that what is wrong with the store is said before anything is started; and asks, if others use it. */
  private Guarantees lookAround(StoreChoice choice) throws InterruptedException {
    LockStore opened = Stores.open(choice.uri());
    try (Holdfast connected = Holdfast.builder()
        .store(opened)
        .clientName("holdfast")
        .requestTimeout(StoreChoice.PATIENCE)
        .build()) {
      Guarantees guarantees = connected.guarantees();
      OtherLocks.confirm(opened, OURS, yes);
      return guarantees;
    }
  }

  private static int say(Verdict verdict, Protocol chosen) {
    verdict
        .counts()
        .forEach(
            (name, count) -> Output.print(String.format(Locale.ROOT, "%-36s %,12d", name, count)));
    if (verdict.outcome() == Verdict.Outcome.INCONCLUSIVE) {
      Output.print("INCONCLUSIVE: " + verdict.why());
      return Exit.INCONCLUSIVE;
    }
    if (verdict.outcome() == Verdict.Outcome.BROKEN) {
      sayWhatIsBroken(verdict, chosen);
      return Exit.BROKEN;
    }
    Output.print("PASSED");
    return Exit.OK;
  }

  private static void sayWhatIsBroken(Verdict verdict, Protocol chosen) {
    Output.print("");
    verdict.violations().stream().limit(MOST_SAID).forEach(Output::print);
    int more = verdict.violations().size() - MOST_SAID;
    if (more > 0) {
      Output.print(
          "... and " + more + " more; --report FILE draws them, --history FILE has what happened");
    }
    Output.print("");
    Output.print("BROKEN: " + String.join(", ", verdict.invariants()));
    if (chosen != Protocol.HOLDFAST) {
      Output.print(chosen.text());
    }
  }
}
