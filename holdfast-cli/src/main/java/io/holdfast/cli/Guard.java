// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.cli.KillPlan.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides what the command's group is sent while its lock is held, and what we exit with. No clock, no thread, no I/O:
 * whoever calls says what time it is.
 *
 * <p>What was begun goes on: a renewal after the SIGTERM does not call it back, because the command is ending already,
 * and has the grace to do so.
 */
final class Guard {
  /** A machine that was suspended shows it on the wall clock only, which wakes nobody: so we look this often. */
  private static final Duration LONGEST_QUIET = Duration.ofMillis(500);

  /** How long a SIGKILL may take to have its effect; less if less is left, see {@link #killAgainNanos()}. */
  private static final Duration KILL_AGAIN = Duration.ofSeconds(1);

  /** A process is started for each, also while the command waits for a disk. */
  private static final Duration LEAST_KILL_AGAIN = Duration.ofMillis(100);

  private final KillPlan full;
  private final Duration first;
  private KillPlan plan;
  private final boolean killsOnLoss;
  private final Stops stops;

  /** What was done for the sake of the lock. */
  private Step done = Step.LEAVE;

  /** When the grace ends that began with the first signal to the command; null while there was none. */
  private @Nullable Long killAtNanos;

  /** When the last SIGKILL was due; null while none was. */
  private @Nullable Long killedAtNanos;

  /**
   * Starts with a command that runs.
   *
   * @param plan when to end it
   * @param killsOnLoss false with {@code --on-lost warn}
   * @param stops when to stop it for Ctrl-Z
   */
  Guard(KillPlan plan, boolean killsOnLoss, Stops stops) {
    this(plan, plan, Duration.ZERO, killsOnLoss, stops);
  }

  /**
   * Starts with a command that runs, and a hold that may have a short lease at first.
   *
   * @param plan when to end it
   * @param atFirst the same until the first renewal
   * @param first what remained at first: more comes by a renewal only
   * @param killsOnLoss false with {@code --on-lost warn}
   * @param stops when to stop it for Ctrl-Z
   */
  Guard(KillPlan plan, KillPlan atFirst, Duration first, boolean killsOnLoss, Stops stops) {
    this.full = plan;
    this.first = first;
    this.plan = atFirst;
    this.killsOnLoss = killsOnLoss;
    this.stops = stops;
  }

  /** A watcher that is stopped does not pass the first one on; the second one has its effect before the lease ends, too. */
  private long killAgainNanos() {
    long inTime = Math.max(LEAST_KILL_AGAIN.toNanos(), plan.reserve().toNanos() / 2);
    return Math.min(KILL_AGAIN.toNanos(), inTime);
  }

  /** Returns what is due now: nothing, or one signal, each once; but SIGKILL again and again while the command has not ended. */
  List<Sig> look(Duration remaining, long nowNanos) {
    if (killedAtNanos != null) {
      return nowNanos - killedAtNanos < killAgainNanos() ? List.of() : kill(nowNanos);
    }
    if (remaining.compareTo(first) > 0) {
      plan = full;
    }
    Step due = killsOnLoss ? plan.due(remaining) : Step.LEAVE;
    if (due.compareTo(done) > 0) {
      done = due;
      if (due == Step.TERMINATE) {
        startGrace(nowNanos);
        return List.of(Sig.TERM);
      }
    }
    if (due == Step.KILL || (killAtNanos != null && nowNanos - killAtNanos >= 0)) {
      return kill(nowNanos);
    }
    return stops.look(nowNanos);
  }

  /**
   * Whether a command that is ready may begin: not if it would have to be killed at once.
   *
   * @param remaining of the validity
   */
  boolean mayBegin(Duration remaining) {
    return killsOnLoss ? plan.due(remaining) != Step.KILL : !remaining.isZero();
  }

  /** Whether the command was sent SIGKILL. */
  boolean hasKilled() {
    return killedAtNanos != null;
  }

  /** Returns what to pass on after a signal to us, in this order. */
  List<Sig> signalled(Sig signal, Duration remaining, long nowNanos) {
    List<Sig> orders = new ArrayList<>();
    if (signal == Sig.CONT) {
      // We may have been stopped for longer than the lease: kill before anything is continued.
      orders.addAll(look(remaining, nowNanos));
      orders.add(Sig.CONT);
      stops.goOn(nowNanos);
    } else if (signal == Sig.TSTP) {
      orders.addAll(stops.stop(nowNanos));
    } else if (signal.ends()) {
      orders.add(signal);
      startGrace(nowNanos);
    }
    return orders;
  }

  /** For how long the command may go on if we are killed now; empty if only the grace of the watcher limits that. */
  Optional<Duration> withoutUs(Duration remaining, long nowNanos) {
    Optional<Duration> lease =
        killsOnLoss ? Optional.of(remaining.minus(plan.reserve())) : Optional.empty();
    Optional<Duration> grace =
        Optional.ofNullable(killAtNanos).map(end -> Duration.ofNanos(end - nowNanos));
    return hasKilled()
        ? Optional.empty()
        : Stream.of(lease, grace).flatMap(Optional::stream).min(Comparator.naturalOrder());
  }

  /** How long there is nothing to look at, if no event comes. */
  Duration quiet(Duration remaining, long nowNanos) {
    Duration quiet = LONGEST_QUIET;
    if (killedAtNanos != null) {
      long left = killedAtNanos + killAgainNanos() - nowNanos;
      return min(quiet, Duration.ofNanos(Math.max(0, left)));
    }
    if (killsOnLoss) {
      quiet =
          min(quiet, done == Step.LEAVE ? plan.quiet(remaining) : remaining.minus(plan.reserve()));
    }
    if (killAtNanos != null) {
      quiet = min(quiet, Duration.ofNanos(killAtNanos - nowNanos));
    }
    quiet = stops.quiet(quiet);
    return quiet.isNegative() ? Duration.ZERO : quiet;
  }

  /**
   * Returns the exit code.
   *
   * @param status what the command ended with
   * @param lost whether the hold was lost before it was released
   */
  int exitCode(int status, boolean lost) {
    return killsOnLoss && (lost || hasEndedCommand()) ? Exit.LOST : status;
  }

  /** Whether the command was signalled for the sake of the lock. */
  boolean hasEndedCommand() {
    return done != Step.LEAVE;
  }

  private List<Sig> kill(long nowNanos) {
    killedAtNanos = nowNanos;
    return List.of(Sig.KILL);
  }

  private void startGrace(long nowNanos) {
    if (killAtNanos == null) {
      killAtNanos = nowNanos + full.grace().toNanos();
    }
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) <= 0 ? a : b;
  }
}
