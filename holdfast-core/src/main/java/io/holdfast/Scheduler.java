// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/**
 * Runs short tasks later, as an input, so that tests can run them by hand. Tasks never block and never run user code.
 *
 * <p>Renewals and the notice of a loss hang on it. A scheduler that refuses a task by throwing is helped out: the task
 * runs on a timer thread of the client's own, and the first refusal is logged as a warning. One that accepts a task and
 * never runs it cannot be helped: nothing is renewed and no loss is told, though {@link Hold#isValid()} turns false in
 * time all the same. So shut it down only after the clients that use it are closed.
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
