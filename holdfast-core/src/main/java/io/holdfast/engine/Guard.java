// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.lang.System.Logger.Level;

/**
 * Runs the engine's own steps so that a failure of one (a bug, a store that throws where it must not) does not keep the
 * next from happening: a thread that is not woken would wait for ever.
 */
final class Guard {
  private Guard() {}

  static void run(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      Log.thrown(Level.ERROR, "an internal step failed; please report this", e);
    }
  }
}
