// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/**
 * Runs short tasks later, as an input, so that tests can run them by hand. Tasks never block and never run user code.
 *
 * <p>Renewals and loss notices depend on it. If it refuses a task by throwing, the task runs on a timer thread of the
 * client, and the first refusal is logged as a warning. If it accepts a task and never runs it, no lease is renewed and no
 * loss is reported, though {@link Hold#isValid()} still turns false in time. So shut it down only after the clients that
 * use it are closed.
 */
@FunctionalInterface
public interface Scheduler {
  /**
   * Runs a task once, after a delay. Tasks may run late, and on any thread, but not before the delay has passed.
   *
   * @param task what to run
   * @param delayNanos the delay in nanoseconds; zero or negative means as soon as possible
   * @return a handle that cancels it
   * @throws RuntimeException if it cannot: then the task will not be run by this scheduler
   */
  Scheduled schedule(Runnable task, long delayNanos);

  /** A task that waits for its time. */
  @FunctionalInterface
  interface Scheduled {
    /** Cancels the task if it has not begun; otherwise does nothing. */
    void cancel();
  }
}
