// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import io.holdfast.Holdfast;
import io.holdfast.Ticker;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Stores;
import io.holdfast.verify.Invariant;
import io.holdfast.verify.Protocol;
import io.holdfast.verify.RunSetup;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast verify}. */
@Command(
    name = "verify",
    header =
        "Tests the locks on your own store: processes that are stopped and killed, and a judge.",
    description = {
      "",
      "Starts processes that take locks under names of their own (holdfast-verify/...), hold them around the length of a"
          + " lease, and write to a resource that checks tokens; stops and kills some of them; and judges what happened."
          + " Exits with 0 if nothing was broken, 1 if something was, 3 if nothing can be said: no process got a lock, no"
          + " fault took place, or the store was away in the end; 71 if a process cannot be started or stopped, or the sentinels do"
          + " not fail over.",
      "",
      "With --protocol it runs a lock as essays and textbooks have it instead, which ends with the violation that it is"
          + " known for: that shows that the judge catches what is wrong. docs/schemes.md explains each. In a database the empty"
          + " table holdfast_verify_textbook stays.",
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
  private static final int VERSION_SECONDS = 10;

  /** The subjects under which a store's doctor names its servers, and what they are. */
  private static final Pattern VERSION = Pattern.compile("(server|version)( .*)?|member .*|SQLite");

  private static final String INDENT = "      ";
  private static final String PAGE = "docs/schemes.md";

  /** Where the launcher has put SQLite's library: a worker that is killed could not remove a copy of its own. */
  private static final List<String> PASSED_ON =
      List.of("org.sqlite.lib.path", "org.sqlite.lib.name", "java.io.tmpdir");

  /** Where the launcher has put its archive of loaded classes: workers are started again and again. */
  private static final String ARCHIVE = "holdfast.classes";

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
              + " fall behind by a lease, then the sentinels are asked for a failover, which every client of these servers"
              + " notices; the command asks first. Restart, cut off or change the clock of a server yourself while this"
              + " runs.")
  List<String> faults = List.of("pause", "kill");

  @Option(
      names = "--protocol",
      paramLabel = "NAME",
      description = "A lock as essays have it; --list names them.")
  String protocol = Protocol.HOLDFAST.label();

  @Option(names = "--list", description = "Print the protocols, and what is known of them.")
  boolean list;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description =
          "Chooses which processes are hit, and when; the machine and the store decide the rest.")
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

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    if (list) {
      list();
      return Exit.OK;
    }
    Messages messages = verbosity.messages();
    StoreChoice choice = store.choose(messages);
    Protocol chosen = protocol();
    Around around = lookAround(choice);
    Guarantees guarantees = around.guarantees();
    VerifySettings settings = settings(choice, chosen, guarantees);
    if (settings.faults().contains(Fault.FAILOVER)) {
      Question.confirm(
          "the servers will fail over, and forget what their replicas do not know", yes);
    }
    messages.note("store " + choice + ", protocol " + chosen.label() + ", lease "
        + DurationText.of(settings.lease()) + ", seed " + settings.seed());
    Verification verification =
        new Verification(settings, Terminal.is(2) ? messages::progress : line -> {});
    verification.onLeftover(messages::error);
    Instant began = Instant.ofEpochMilli(Ticker.system().wallMillis());
    // opened before: a file that cannot be written is told before the run, and not after it
    try (Writer facts = open(history);
        Writer page = open(report)) {
      Verdict verdict = run(verification, messages, facts);
      verification.writeReport(
          verdict,
          new RunSetup(choice.toString(), began, around.versions(), again(choice, settings)),
          page);
      return say(verdict, chosen);
    } catch (IOException e) {
      String files = Stream.of(history, report)
          .filter(Objects::nonNull)
          .map(String::valueOf)
          .collect(Collectors.joining(" or "));
      throw new CliException(
          Exit.CANNOT_CREATE, "cannot write " + files + ": " + FileFailures.reason(e), e);
    }
  }

  /** Runs, and writes the history even if the run fails, because it cannot be repeated exactly. */
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
    }
    verification.writeHistory(facts);
    return verdict;
  }

  /** If a process cannot be started or stopped, that is the system's fault, and not that of a file. */
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

  private static Writer open(@Nullable Path file) {
    if (file == null) {
      return Writer.nullWriter();
    }
    try {
      return Files.newBufferedWriter(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new CliException(Exit.CANNOT_CREATE, FileFailures.cannotWrite(file, e), e);
    }
  }

  /** Grouped as docs/schemes.md is; as wide as the help is, or as a terminal that is narrower. */
  private void list() {
    int width = spec.usageMessage().width();
    if (Terminal.is(1)) {
      width = Math.min(width, spec.usageMessage().autoWidth(true).width());
    }
    String chapter = "";
    for (Protocol each : Protocol.values()) {
      if (!each.chapter().equals(chapter)) {
        if (!chapter.isEmpty()) {
          Output.print("");
        }
        chapter = each.chapter();
        Output.print(chapter);
      }
      Output.print("  " + each.label()
          + each.breaks().map(breaks -> ": ends with " + breaks.breach()).orElse(""));
      wrap(each.text(), width - INDENT.length()).forEach(line -> Output.print(INDENT + line));
    }
  }

  /** Breaks a text between words, into lines of at most so many characters where its words allow it. */
  static List<String> wrap(String text, int width) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (line.length() > 0 && line.length() + 1 + word.length() > width) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.length() == 0 ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
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
                  + "\" cannot be injected into a server that verify did not start; there are pause, kill, failover and none");
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
    String archive = System.getProperty(ARCHIVE);
    if (archive != null) {
      command.add("-XX:SharedArchiveFile=" + archive);
    }
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"));
    // what the archive does not fit would be told on stdout, where a worker's facts are read
    command.addAll(List.of("-Xlog:disable", "-Xlog:all=error:stderr"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    return command;
  }

  /** What was learnt of the store before the run. */
  private record Around(Guarantees guarantees, List<String> versions) {}

  /** Connects, so that what is wrong with the store is said before anything is started; and asks, if others use it. */
  private Around lookAround(StoreChoice choice) throws InterruptedException {
    LockStore opened = Stores.open(choice.uri());
    try (Holdfast connected =
        StoreChoice.patient().store(opened).clientName("holdfast").build()) {
      Guarantees guarantees = connected.guarantees();
      if (!guarantees.given().contains(Guarantee.EXCLUDES_PROCESSES)) {
        throw new CliException(
            Exit.USAGE,
            choice
                + " excludes the threads of one process only, and verify starts several; give it a store that"
                + " processes share");
      }
      OtherLocks.confirm(opened, OURS, yes);
      return new Around(guarantees, report == null ? List.of() : versions(opened, guarantees));
    }
  }

  /** For the report: ours, Java's and the system's, and the server's as its doctor names it. */
  private static List<String> versions(LockStore opened, Guarantees guarantees)
      throws InterruptedException {
    List<String> versions = new ArrayList<>(List.of(new Main.Version().getVersion()));
    versions.add(Runtime.getRuntime().availableProcessors() + " processors");
    try {
      opened.diagnose().toCompletableFuture().get(VERSION_SECONDS, TimeUnit.SECONDS).stream()
          .filter(each -> each.level() == Finding.Level.OK)
          .filter(each -> VERSION.matcher(each.subject()).matches())
          .map(Finding::message)
          .forEach(versions::add);
    } catch (ExecutionException | TimeoutException e) {
      versions.add(guarantees.store() + " of a version that could not be learnt");
    }
    return versions;
  }

  /** The command that does the same again. Parameters of the address may be secrets: "?..." stands for them. */
  private String again(StoreChoice choice, VerifySettings settings) {
    String address = choice + (choice.uri().contains("?") ? "?..." : "");
    return "holdfast verify --store '" + address.replace("'", "'\\''") + "'"
        + (settings.protocol() == Protocol.HOLDFAST
            ? ""
            : " --protocol " + settings.protocol().label())
        + " --duration " + settings.duration().toMillis() + "ms --clients " + settings.clients()
        + " --lease " + settings.lease().toMillis() + "ms --faults "
        + (settings.faults().isEmpty()
            ? "none"
            : settings.faults().stream()
                .sorted()
                .map(Fault::label)
                .collect(Collectors.joining(",")))
        + " --seed " + settings.seed();
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
    if (!verdict.story().isEmpty()) {
      Output.print("");
      Output.print("Which process held the lock when:");
      verdict.story().forEach(line -> Output.print("  " + line));
    }
    Output.print("");
    Output.print("BROKEN: "
        + verdict.invariants().stream().map(Invariant::breach).collect(Collectors.joining(", ")));
    if (chosen != Protocol.HOLDFAST) {
      Output.print(chosen.label() + ": " + chosen.text());
      Output.print("What to do instead: " + PAGE + "#" + chosen.label());
    }
  }
}
