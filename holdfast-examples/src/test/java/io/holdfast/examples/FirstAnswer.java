// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.process.ServerProcess;

/** Waits for a server that was just started: what a test starts after that has its own time for its own questions. */
final class FirstAnswer {
  private FirstAnswer() {}

  /** Leaves a process that has just been started the time to load the driver. */
  private static final String CONNECT_TIMEOUT = "?holdfast.connect-timeout=30s";

  /** Returns the address of Redis when the server behind it answers. */
  static String of(ServerProcess server, String uri) {
    server.awaitAnswer(() -> answers(uri));
    return uri + CONNECT_TIMEOUT;
  }

  private static boolean answers(String uri) {
    try (Holdfast client = Holdfast.connect(uri)) {
      return !client.guarantees().store().isEmpty();
    } catch (StoreUnavailableException e) {
      // not there yet
      return false;
    }
  }
}
