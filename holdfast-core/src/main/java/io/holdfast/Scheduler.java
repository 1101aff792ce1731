// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/**
 * Runs short tasks later, as an input, so that tests can run them by hand. Tasks never block and never run user code.
 */
@FunctionalInterface
public interface Scheduler {
  /**
   * Runs a task once, after a delay. Tasks may run late, and on any thread, but not before the delay has passed.
   *
   * @param task what to run
   * @param delayNanos the delay in nanoseconds; zero or negative means as soon as possible
   * @return a handle that cancels it
   */
  Scheduled schedule(Runnable task, long delayNanos);

  /** A task that waits for its time. */
  @FunctionalInterface
  interface Scheduled {
    /** Cancels the task if it has not begun; otherwise does nothing. */
    void cancel();
  }
}
