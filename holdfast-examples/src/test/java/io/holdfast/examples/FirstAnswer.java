// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.process.ServerProcess;

/** Waits for a server that was just started: what a test starts after that has its own time for its own questions. */
final class FirstAnswer {
  private FirstAnswer() {}

  /** Returns the address when the store behind it answers. */
  static String of(ServerProcess server, String uri) {
    server.awaitAnswer(() -> answers(uri));
    return uri;
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
