// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.process.ServerProcess;

/** Waits for a server that was just started: what a test starts after that has its own time for its own questions. */
final class FirstAnswer {
  private FirstAnswer() {}

  /** What a process that has just been started needs to load the driver is within this. */
  private static final String TIME = "?holdfast.connect-timeout=30s";

  /** Returns the address of Redis when the server behind it answers. */
  static String of(ServerProcess server, String uri) {
    server.awaitAnswer(() -> answers(uri));
    return uri + TIME;
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
