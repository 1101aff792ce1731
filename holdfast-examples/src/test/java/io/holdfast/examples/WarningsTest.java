// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static java.lang.System.Logger.Level.WARNING;

import io.holdfast.testkit.log.Warns;
import org.junit.jupiter.api.Test;

/** What Holdfast logs in the JVM of these tests is judged, although the command has loggers of its own. */
class WarningsTest {
  /** Were it not heard, it would be missing; and a test that has not announced it would pass. */
  @Test
  @Warns("told to the tests")
  void warning_isHeard() {
    System.getLogger("io.holdfast.examples").log(WARNING, "told to the tests");
  }
}
