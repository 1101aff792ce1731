// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

/** The command that runs under a lock, with all it has started: one process group. */
interface Child extends AutoCloseable {
  /**
   * Lets the command begin, once it is ready.
   *
   * @param token for {@code HOLDFAST_TOKEN}
   */
  void begin(long token);

  /**
   * Says when the group must have been sent SIGKILL if we are gone by then. To be called often: it is passed on when there
   * is news.
   *
   * @param tenths of the {@link SharedClock}
   */
  void endBy(long tenths);

  /** Sends a signal to the group. */
  void order(Sig signal);

  /**
   * Waits for the command itself.
   *
   * @return its status, 128+n if a signal ended it
   */
  int waitFor() throws InterruptedException;

  /** Lets go of the group: what the command left running goes on. */
  @Override
  void close();
}
