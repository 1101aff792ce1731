// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.DistributedLock;
import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockInfo;
import io.holdfast.OnLost;
import io.holdfast.Ticker;
import io.holdfast.spi.ConnectionAdvice;
import io.holdfast.spi.DurationText;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Acquires, runs, releases. */
final class LockedRun {
  private final RunSettings settings;
  private final Messages messages;
  private final Ticker ticker = Ticker.system();
  private final StoreWait storeWait = new StoreWait(ticker);
  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private final LossReport losses;
  private Optional<WorkFile> workFile = Optional.empty();

  LockedRun(RunSettings settings, Messages messages) {
    this.settings = settings;
    this.messages = messages;
    this.losses =
        new LossReport(messages, settings.killsOnLoss(), settings.options().holdAtMost());
  }

  /** Returns the exit code; failures are thrown. */
  int run() {
    List<String> command = new ArrayList<>(settings.command());
    command.set(0, CommandPath.check(command.get(0), System.getenv().getOrDefault("PATH", "")));
    StoreChoice store = settings.store().choose(messages);
    workFile = WorkFile.of(store.uri());
    Interruptions interruptions = new Interruptions();
    interruptions.listen();
    Terminal.front().ifPresent(interruptions::watchFront);
    int code;
    try (Supervisor supervisor = Supervisor.prepare(messages);
        Holdfast holdfast = connect(store)) {
      checkReach(store, holdfast.guarantees());
      code = locked(store, holdfast, supervisor, command, interruptions);
    } catch (InterruptedException e) {
      code = interrupted(interruptions);
    } finally {
      messages.settle();
    }
    Optional<Sig> signal = interruptions.first();
    if (signal.isPresent() && code == Exit.of(signal.get())) {
      Interruptions.dieOf(signal.get());
    }
    return code;
  }

  /**
   * Connects with the first request, or before that if nothing is waited for: then a store that is down is told of after one
   * attempt. A signal ends that, too.
   */
  private Holdfast connect(StoreChoice store) throws InterruptedException {
    Holdfast.Builder builder = Holdfast.builder()
        .store(workFile.map(file -> file.addTo(store.uri())).orElse(store.uri()))
        .clientName("holdfast")
        .listener(storeWait);
    if (!triesOnly()) {
      return builder.connectLazily().build();
    }
    FutureTask<Holdfast> connecting =
        new FutureTask<>(builder.connectTimeout(StoreChoice.PATIENCE)::build);
    Thread thread = new Thread(connecting, "holdfast-connect");
    thread.setDaemon(true);
    thread.start();
    // what the machine's name service takes is not the store's time, and has no limit of ours
    Duration inAll = StoreChoice.PATIENCE.multipliedBy(4);
    try {
      return connecting.get(inAll.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      throw new CliException(
          Exit.UNAVAILABLE,
          "store " + store + ": no connection within "
              + DurationText.of(inAll) + "; "
              + ConnectionAdvice.SILENT,
          e);
    }
  }

  private boolean triesOnly() {
    return settings.waitAtMost().filter(Duration::isZero).isPresent();
  }

  private int locked(
      StoreChoice store,
      Holdfast holdfast,
      Supervisor supervisor,
      List<String> command,
      Interruptions interruptions)
      throws InterruptedException {
    checkOptions(store, holdfast.guarantees());
    DistributedLock lock = holdfast.lock(
        settings.lockName(),
        settings.options().toBuilder()
            .onLost(OnLost.call(loss -> events.add(new Event.Lost())))
            .build());
    messages.step(
        "acquiring lock \"" + lock.name() + "\" in " + holdfast.guarantees().store());
    long askedNanos = ticker.nanos();
    Optional<Hold> hold = acquire(holdfast, lock);
    if (hold.isEmpty()) {
      return busy(holdfast);
    }
    messages.step("acquired lock \"" + lock.name() + "\" after " + since(askedNanos) + ", token "
        + hold.get().token());
    if (!interruptions.passTo(events)) {
      // Told to end at the very moment of the grant: nothing was run.
      Thread.interrupted();
      release(hold.get(), false);
      return interrupted(interruptions);
    }
    return held(hold.get(), supervisor, command, interruptions);
  }

  private static void checkReach(StoreChoice store, Guarantees guarantees) {
    if (!guarantees.given().contains(Guarantee.EXCLUDES_PROCESSES)) {
      throw new CliException(
          Exit.USAGE,
          store
              + " excludes the threads of one process only, and the next holdfast run is another process;"
              + " choose another store, for example sqlite:locks.db");
    }
  }

  /** In the words of the command line; the library has its own. */
  private void checkOptions(StoreChoice store, Guarantees guarantees) {
    Duration lease = settings.options().leaseFor();
    if (lease.compareTo(guarantees.shortestLease()) < 0
        || lease.compareTo(guarantees.longestLease()) > 0) {
      throw new CliException(
          Exit.USAGE,
          "--lease must be between " + DurationText.exact(guarantees.shortestLease()) + " and "
              + DurationText.exact(guarantees.longestLease()) + " on this store, not "
              + DurationText.exact(lease));
    }
    if (settings.options().fair() && !guarantees.given().contains(Guarantee.FAIR)) {
      throw new CliException(
          Exit.USAGE,
          "store " + store
              + " cannot be fair between processes; leave out --fair, or choose another store");
    }
  }

  private Optional<Hold> acquire(Holdfast holdfast, DistributedLock lock)
      throws InterruptedException {
    if (triesOnly()) {
      return lock.tryAcquire();
    }
    WaitingLine line = WaitingLine.show(
        holdfast.admin(), lock.name(), messages, ticker, storeWait, settings.busyExit() != Exit.OK);
    try {
      return settings.waitAtMost().isPresent()
          ? lock.tryAcquire(settings.waitAtMost().get())
          : Optional.of(lock.acquire());
    } finally {
      line.close();
    }
  }

  private int busy(Holdfast holdfast) {
    if (settings.busyExit() != Exit.OK) {
      String wait = settings
          .waitAtMost()
          .filter(longest -> !longest.isZero())
          .map(longest -> " after " + DurationText.of(longest))
          .orElse("");
      messages.error("lock \"" + settings.lockName() + "\" is busy" + wait + holder(holdfast));
    }
    return settings.busyExit();
  }

  private String holder(Holdfast holdfast) {
    try {
      return holdfast
          .admin()
          .inspect(settings.lockName())
          .filter(LockInfo::isTaken)
          .map(info -> ": " + Describe.holding(info, ticker.wallMillis()))
          .orElse("");
    } catch (HoldfastException e) {
      // It was only to be told; that the lock is busy is known.
      return "";
    }
  }

  private int held(
      Hold hold, Supervisor supervisor, List<String> command, Interruptions interruptions)
      throws InterruptedException {
    Guard guard = guard(hold.remaining());
    int status;
    long begunNanos = ticker.nanos();
    boolean started = false;
    boolean ended = false;
    try {
      if (!hold.isValid()) {
        throw new CliException(
            Exit.LOST, "lost the lock \"" + hold.lockName() + "\" before the command began");
      }
      messages.hurry();
      Optional<Path> created =
          workFile.isPresent() ? Optional.of(workFile.get().create()) : Optional.empty();
      supervisor.start(
          command,
          hold.lockName(),
          settings.plan().grace(),
          Terminal.front().isPresent() && Terminal.is(0) && Terminal.is(1) && Terminal.is(2),
          created,
          () -> events.add(new Event.Ready()));
      started = true;
      status = watch(hold, supervisor, guard);
      ended = true;
      messages.step("the command ended with " + status + " after " + since(begunNanos));
    } catch (IOException e) {
      if (interruptions.first().isPresent()) {
        // Ctrl-C has hit what Java starts processes with.
        return interrupted(interruptions);
      }
      throw new CliException(
          Exit.CANNOT_CREATE, "cannot run the command: " + FileFailures.reason(e), e);
    } finally {
      if (!ended) {
        if (started) {
          supervisor.order(Sig.KILL);
        }
        release(hold, false);
      }
    }
    boolean ours = release(hold, status == 0 && !guard.hasEndedCommand());
    return guard.exitCode(status, !ours);
  }

  private Guard guard(Duration first) {
    KillPlan plan = settings.plan();
    return new Guard(
        plan,
        plan.atFirst(first, KillPlan.longest(settings.options())),
        first,
        settings.killsOnLoss(),
        new Stops(Terminal::job));
  }

  private int watch(Hold hold, Supervisor supervisor, Guard guard) throws InterruptedException {
    Thread waiter = new Thread(() -> waitFor(supervisor), "holdfast-command");
    waiter.setDaemon(true);
    waiter.start();
    SharedClock clock = new SharedClock(SharedClock.UPTIME, ticker);
    return new Watch(hold, supervisor, guard, events, ticker, clock, losses).untilEnded();
  }

  private void waitFor(Child child) {
    try {
      events.add(new Event.Ended(child.waitFor()));
    } catch (InterruptedException e) {
      // Nobody interrupts this thread.
      Thread.currentThread().interrupt();
    }
  }

  /** Gives the lock back, and says so if that is not certain. Returns whether the hold was ours to the end. */
  private boolean release(Hold hold, boolean success) {
    try {
      return releaseHold(hold, success);
    } finally {
      // Before the client closes: a client that cleans finds this file only through that of the client.
      workFile.ifPresent(WorkFile::remove);
    }
  }

  private boolean releaseHold(Hold hold, boolean success) {
    try {
      boolean ours = success ? hold.release() : hold.releaseNow();
      if (!ours) {
        losses.foundAtRelease(hold);
      } else if (success && !settings.options().holdAtLeast().isZero()) {
        messages.step("released lock \"" + hold.lockName() + "\"; it stays taken until "
            + DurationText.of(settings.options().holdAtLeast()) + " after it was acquired");
      } else {
        messages.step("released lock \"" + hold.lockName() + "\"");
      }
      return ours;
    } catch (HoldfastException e) {
      Duration longest = settings.options().leaseFor();
      messages.error("the store did not confirm that lock \"" + hold.lockName()
          + "\" is given back; it may stay taken for up to " + DurationText.of(longest) + ": "
          + e.getMessage());
      return true;
    }
  }

  private String since(long nanos) {
    return DurationText.of(Duration.ofNanos(ticker.nanos() - nanos));
  }

  private int interrupted(Interruptions interruptions) {
    Sig signal = interruptions.first().orElse(Sig.INT);
    messages.error(
        "interrupted (SIG" + signal + ") while waiting for lock \"" + settings.lockName() + "\"");
    return Exit.of(signal);
  }
}
