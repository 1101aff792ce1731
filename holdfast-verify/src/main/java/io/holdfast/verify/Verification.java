// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Holdfast;
import io.holdfast.Ticker;
import io.holdfast.verify.VerifySettings.Fault;
import java.io.IOException;
import java.io.Writer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One run: processes that take locks of a real store, hold them around the length of a lease, write to a resource that
 * checks tokens and to one that does not, while some of them are stopped or killed; then all is quiet, and each lock must
 * be to be had; then what happened is judged.
 *
 * <p>What is judged is in {@link Invariant}.
 *
 * <p>It reads times of several processes as those of one clock, which holds for the processes of one machine.
 */
public final class Verification {
  /** Beyond the end of a lease: what a store may take to notice, and a machine to wake its processes. */
  private static final Duration MARGIN = Duration.ofSeconds(10);

  /** What is left of a lease at most, and how far ahead the clock may have been that it was counted on. */
  private static final int LEASES_TO_END = 4;

  private static final int CLIENTS_FOR_A_LOCK = 4;

  /** What a store has for its answer when the run is ended from outside. */
  private static final long CLEANING_MILLIS = TimeUnit.SECONDS.toMillis(10);

  private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

  private final VerifySettings settings;
  private final @Nullable OwnServer server;
  private final Consumer<String> progress;
  private final Ticker ticker = Ticker.system();
  private final SplittableRandom random;
  private final Journal journal = new Journal();
  private final List<String> locks = new ArrayList<>();
  private final ReentrantLock guard = new ReentrantLock();
  private final Condition never = guard.newCondition();
  private List<Fact> facts = List.of();
  private List<Violation> violations = List.of();
  private long endedByAStep;

  /** Why it could not be seen whether something is left in the store; empty if it could. */
  private String notLookedFor = "";

  private final ReentrantLock cleaning = new ReentrantLock();
  private boolean cleanedUp;
  private volatile Consumer<String> leftover = line -> {};

  /**
   * Prepares a run; nothing is contacted.
   *
   * @param settings what to do
   * @param progress is told a line every second or so
   */
  public Verification(VerifySettings settings, Consumer<String> progress) {
    this(settings, null, progress);
  }

  /**
   * Prepares a run on a server that was started for it; nothing is contacted.
   *
   * @param settings what to do
   * @param server the server behind the settings' address; null if it is the user's
   * @param progress is told a line every second or so
   * @throws IllegalArgumentException if there are faults that cannot be injected there; the message names them
   */
  public Verification(
      VerifySettings settings, @Nullable OwnServer server, Consumer<String> progress) {
    this.settings = settings;
    this.server = server;
    this.progress = progress;
    for (Fault each : settings.faults()) {
      if (each.isTheServers() && (server == null || !server.faults().contains(each))) {
        throw new IllegalArgumentException(
            "the fault " + each.label() + " cannot be injected into this server");
      }
    }
    random = new SplittableRandom(settings.seed());
    String prefix = "holdfast-verify/" + Long.toUnsignedString(random.nextLong(), 36) + "/";
    int count = Math.max(1, settings.clients() / CLIENTS_FOR_A_LOCK);
    for (int i = 0; i < count; i++) {
      locks.add(prefix + (char) ('a' + i));
    }
  }

  /**
   * Runs, which takes the duration and, at the end, for each lock up to four leases, the time in which the store wakes
   * waiters, and ten seconds; usually much less, and as long again, twice at most, where something is left in the store or
   * the store is away. Whatever happens, no process that it started is left, and {@link #writeHistory} has what was seen
   * until then.
   *
   * @return the verdict; a store that is away in the end is no failure, and nothing can be said then but of what was broken
   * @throws IOException if a process cannot be started or signalled, or the sentinels do not fail over
   * @throws InterruptedException if the thread is interrupted; the workers are killed then
   */
  public Verdict run() throws IOException, InterruptedException {
    try {
      work();
    } finally {
      facts = journal.inOrder();
    }
    ServerTroubles troubles = ServerTroubles.of(facts, settings);
    Judgement judgement = Judgement.of(facts, troubles);
    endedByAStep = judgement.endedByAStep();
    violations = new ArrayList<>(judgement.violations());
    violations.addAll(SecondOpinion.of(facts, troubles));
    // of one moment the first judge's come first: they say more
    violations.sort(Comparator.comparingLong(each -> each.fact().at()));
    return verdict();
  }

  private void work() throws IOException, InterruptedException {
    if (settings.protocol() != Protocol.HOLDFAST) {
      // of a run with this seed that was interrupted
      settings.protocol().cleanUp(settings.uri(), locks);
    }
    Resources resources = new Resources(journal);
    try (Crew crew = new Crew(settings, journal, resources, locks, random.split());
        Failovers failovers =
            settings.faults().contains(Fault.FAILOVER) ? new Failovers(settings.uri()) : null) {
      Thread ending = new Thread(() -> endEarly(crew), "holdfast-verify-end");
      Runtime.getRuntime().addShutdownHook(ending);
      try {
        run(crew, failovers);
      } finally {
        crew.end();
        cleanUp();
        forget(ending);
      }
    }
    if (settings.protocol() == Protocol.HOLDFAST) {
      Duration within = bound();
      notLookedFor = new Remains(
              () -> Holdfast.connect(settings.uri()), journal, ticker, this::pause)
          .lookFor(locks, within);
    }
    journal.add(Fact.of(What.END, ticker.nanos(), ""));
  }

  /**
   * Ctrl-C must leave no processes behind, least of all stopped ones, and nothing in the store. The JVM waits for its hooks,
   * and for no other thread.
   */
  private void endEarly(Crew crew) {
    crew.end();
    Thread cleaner = new Thread(this::cleanUp, "holdfast-verify-clean");
    // a store that does not answer must not keep the JVM
    cleaner.setDaemon(true);
    cleaner.start();
    try {
      cleaner.join(CLEANING_MILLIS);
      if (cleaner.isAlive()) {
        leftBehind("it does not answer");
      }
    } catch (InterruptedException e) {
      leftBehind(e.toString());
    }
  }

  /**
   * What a lock from the textbooks leaves is taken away, once, when no worker is left; where that fails, the verdict counts
   * for more than the rest.
   */
  private void cleanUp() {
    cleaning.lock();
    try {
      if (!cleanedUp && settings.protocol() != Protocol.HOLDFAST) {
        cleanedUp = true;
        settings.protocol().cleanUp(settings.uri(), locks);
      }
    } catch (RuntimeException e) {
      leftBehind(e.toString());
    } finally {
      cleaning.unlock();
    }
  }

  private void leftBehind(String why) {
    leftover.accept(
        "what " + settings.protocol().label() + " leaves in the store is still there: " + why);
  }

  /**
   * Says where to tell, in a sentence, what a run of a lock from the textbooks could not take away again from the store. A run
   * that the end of the JVM interrupts tries it, too, for ten seconds.
   *
   * @param told is told once at most, on the thread of the run or on one of a hook of the JVM's; nothing after a run of ours
   */
  public void onLeftover(Consumer<String> told) {
    leftover = told;
  }

  private void run(Crew crew, @Nullable Failovers failovers)
      throws IOException, InterruptedException {
    progress.accept("starting " + settings.clients() + " processes");
    crew.start();
    disturb(crew, failovers);
    journal.add(Fact.of(What.QUIET, ticker.nanos(), ""));
    progress.accept("no more faults: every process takes every lock once more");
    crew.drain(bound());
  }

  private static void forget(Thread ending) {
    try {
      Runtime.getRuntime().removeShutdownHook(ending);
    } catch (IllegalStateException e) {
      // the JVM ends already, and the hook has run
      System.getLogger(Verification.class.getName()).log(System.Logger.Level.TRACE, "ending", e);
    }
  }

  private Duration bound() {
    return settings
        .lease()
        .multipliedBy(LEASES_TO_END)
        .plus(settings.wakesWithin())
        .plus(MARGIN);
  }

  private void disturb(Crew crew, @Nullable Failovers failovers)
      throws IOException, InterruptedException {
    Disturbance disturbance =
        new Disturbance(crew, server, failovers, settings, journal, ticker, random.split());
    long end = ticker.nanos() + settings.duration().toNanos();
    long nextProgress = ticker.nanos() + PROGRESS_NANOS;
    try {
      for (long now = ticker.nanos(); now - end < 0; now = ticker.nanos()) {
        disturbance.step();
        if (now - nextProgress >= 0) {
          progress.accept(state(end - now));
          nextProgress = now + PROGRESS_NANOS;
        }
        pause(Math.min(end - now, STEP_NANOS));
      }
    } finally {
      // the server is given back as it was
      disturbance.quiet();
    }
  }

  private String state(long leftNanos) {
    return TimeUnit.NANOSECONDS.toSeconds(leftNanos) + " s left; " + journal.count(What.ACQUIRED)
        + " grants, " + journal.count(What.PAUSED) + " pauses, " + journal.count(What.KILLED)
        + " kills, " + journal.count(What.REFUSED) + " writes kept out by their tokens";
  }

  private void pause(long nanos) throws InterruptedException {
    long left = nanos;
    guard.lock();
    try {
      while (left > 0) {
        left = never.awaitNanos(left);
      }
    } finally {
      guard.unlock();
    }
  }

  private Verdict verdict() {
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("requests", journal.count(What.REQUESTED));
    counts.put("grants", journal.count(What.ACQUIRED));
    counts.put("looks at holds", journal.count(What.VALID) + journal.count(What.INVALID));
    counts.put("writes", journal.count(What.ACCEPTED) + journal.count(What.REFUSED));
    counts.put("overlaps prevented by the token", journal.count(What.REFUSED));
    counts.put("losses told", journal.count(What.LOST));
    counts.put("requests without an answer", journal.count(What.FAILED));
    counts.put("pauses", journal.count(What.PAUSED));
    counts.put("kills", journal.count(What.KILLED));
    if (server != null) {
      counts.put("restarts of the server", journal.count(What.RESTARTED));
      counts.put("times it was cut off", journal.count(What.CUT));
      counts.put("steps of its clock", journal.count(What.STEPPED));
      counts.put("leases that a step has ended", endedByAStep);
    }
    if (settings.faults().contains(Fault.FAILOVER)) {
      counts.put("failovers", journal.count(What.FAILED_OVER));
    }
    String why = whyNothingCanBeSaid();
    Verdict.Outcome outcome = !violations.isEmpty() && journal.count(What.ACQUIRED) > 0
        ? Verdict.Outcome.BROKEN
        : why.isEmpty() ? Verdict.Outcome.PASSED : Verdict.Outcome.INCONCLUSIVE;
    long began = facts.isEmpty() ? 0 : facts.get(0).at();
    List<String> story = violations.stream()
        .map(each -> Story.of(each, facts, began))
        .filter(each -> !each.isEmpty())
        .findFirst()
        .orElse(List.of());
    return new Verdict(
        outcome,
        counts,
        Invariant.looks(facts),
        violations.stream().map(each -> each.describe(began)).toList(),
        violations.stream().map(Violation::invariant).distinct().sorted().toList(),
        story,
        why);
  }

  private String whyNothingCanBeSaid() {
    if (journal.count(What.ACQUIRED) == 0) {
      return "no process ever got a lock";
    }
    if (settings.faults().isEmpty()) {
      return "no faults were injected";
    }
    for (Fault each : settings.faults()) {
      if (journal.count(each.what()) == 0) {
        return "no " + each.label() + " took place; let it run for longer";
      }
    }
    Optional<Fact> away =
        facts.stream().filter(each -> each.what() == What.AWAY).findFirst();
    if (away.isPresent()) {
      return "whether a free lock can be had could not be seen, since the store was away in the end: "
          + away.get().text();
    }
    if (!notLookedFor.isEmpty()) {
      return "whether something is left could not be seen, since the store was away in the end: "
          + notLookedFor;
    }
    return "";
  }

  /**
   * Writes what happened, one JSON object in a line, in the order of time; docs/verification.md says what is in it. Numbers
   * that may exceed 2^53 are strings.
   *
   * @param to where to; not closed
   * @throws IOException if that fails
   */
  public void writeHistory(Writer to) throws IOException {
    for (Fact each : facts) {
      to.write(each.toJson());
      to.write('\n');
    }
  }

  /**
   * Writes a page for a browser that needs no network: the verdict, what was judged, which
   * process held what when, and the same around each violation.
   *
   * @param verdict what {@link #run()} returned
   * @param setup what was run
   * @param to where to; not closed
   * @throws IOException if that fails
   */
  public void writeReport(Verdict verdict, RunSetup setup, Writer to) throws IOException {
    to.write(Report.page(verdict, setup, settings, facts, violations));
  }
}
