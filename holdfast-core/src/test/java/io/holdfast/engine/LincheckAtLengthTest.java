// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What Lincheck looks at in tier "fast", with some ten times as many scenarios. */
@Tag("all")
class LincheckAtLengthTest {
  @AfterAll
  static void closeClient() {
    LincheckLocks.close();
  }

  @Test
  void handOver() {
    HandOverLincheckTest.check(200);
  }

  @Test
  void reentrantView() {
    ReentrantViewLincheckTest.check(200);
  }

  @Test
  void localQueue() {
    LocalQueueLincheckTest.check(30);
  }
}
