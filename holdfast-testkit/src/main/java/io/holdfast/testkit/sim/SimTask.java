// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.Scheduler;
import org.jspecify.annotations.Nullable;

/** Something that is due at a time; in the order of times, then of numbers. */
final class SimTask implements Scheduler.Scheduled {
  long due;
  long number;

  /** Whose it is: it waits while that process does not run, and is dropped with it. */
  final @Nullable SimProcess process;

  /** For a timer: when it is due by the process's monotonic clock; zero otherwise. */
  final long localDue;

  @Nullable
  Runnable work;

  SimTask(long due, @Nullable SimProcess process, long localDue, Runnable work) {
    this.due = due;
    this.process = process;
    this.localDue = localDue;
    this.work = work;
  }

  @Override
  public void cancel() {
    work = null;
  }

  boolean isBefore(SimTask other) {
    return due != other.due ? due < other.due : number < other.number;
  }
}
