// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Stops and continues the command as the shell at the prompt does our job.
 *
 * <p>A SIGTSTP and the SIGCONT after it reach us in any order, and late, because each is handled on a thread of its own.
 * Acted on as it comes, a late Ctrl-Z would stop a command that {@code fg} has long continued. So what has come is only
 * the reason to look; what counts is whether our job, seen at somebody in it whom the system stops and continues, is
 * stopped.
 */
final class Stops {
  /** How late a busy machine may stop whom we look at; and how far apart signals may be that change places. */
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private static final Duration LOOK = Duration.ofMillis(20);

  private final Supplier<Job> job;
  private @Nullable Long askedNanos;
  private @Nullable Long stoppedNanos;
  private @Nullable Long continuedNanos;

  /** Whether our job is stopped. */
  enum Job {
    RUNNING,
    STOPPED,
    /** Nobody is there to look at. */
    UNKNOWN,
    /** There is no shell that could continue what Ctrl-Z stops. */
    NONE
  }

  /**
   * Starts with a command that runs.
   *
   * @param job looks
   */
  Stops(Supplier<Job> job) {
    this.job = job;
  }

  /** A SIGTSTP has come. */
  List<Sig> stop(long nowNanos) {
    if (job.get() == Job.NONE) {
      return List.of(Sig.CONT);
    }
    askedNanos = nowNanos;
    return look(nowNanos);
  }

  /** A SIGCONT has come; the command is continued in any case. */
  void goOn(long nowNanos) {
    continuedNanos = nowNanos;
    if (isRecent(stoppedNanos, nowNanos) && job.get() == Job.STOPPED) {
      // It came before the SIGTSTP that we have acted on.
      askedNanos = nowNanos;
    }
  }

  /** Returns the order to stop, if it is due. */
  List<Sig> look(long nowNanos) {
    if (askedNanos == null) {
      return List.of();
    }
    if (job.get() == Job.RUNNING) {
      if (nowNanos - askedNanos < PATIENCE.toNanos()) {
        return List.of();
      }
      if (isRecent(continuedNanos, askedNanos)) {
        askedNanos = null;
        return List.of();
      }
      // Not our job, but we alone were told to stop.
    }
    askedNanos = null;
    stoppedNanos = nowNanos;
    return List.of(Sig.TSTP);
  }

  /** How long there is nothing to look at. */
  Duration quiet(Duration longest) {
    return askedNanos == null || longest.compareTo(LOOK) < 0 ? longest : LOOK;
  }

  private static boolean isRecent(@Nullable Long then, long nowNanos) {
    return then != null && nowNanos - then < PATIENCE.toNanos();
  }
}
