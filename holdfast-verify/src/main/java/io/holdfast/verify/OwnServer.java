// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.verify.VerifySettings.Fault;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;

/** A server that was started for a run, and may be treated as servers are not treated otherwise. Used by one thread. */
public interface OwnServer {
  /**
   * Returns what can be done to it.
   *
   * @return some of {@link Fault#RESTART}, {@link Fault#PARTITION} and {@link Fault#CLOCK}
   */
  Set<Fault> faults();

  /**
   * Kills its process, and starts it again on what that has written. Returns when it answers.
   *
   * @throws IOException if it does not start
   */
  void restart() throws IOException;

  /** Cuts it off from all its clients: what they send, and what it answers, does not get through. */
  void cut();

  /** Ends that: what was sent meanwhile is lost, and new connections get through. */
  void heal();

  /**
   * Sets its wall clock. Its clients' clocks stay as they are.
   *
   * @param ahead how far it is ahead of this machine's; negative if behind; zero sets it right
   */
  void setClock(Duration ahead);
}
