// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.time.Duration;

/** What this process uses. */
final class Usage {
  private Usage() {}

  static long cpuNanos() {
    return ProcessHandle.current()
        .info()
        .totalCpuDuration()
        .orElse(Duration.ZERO)
        .toNanos();
  }

  static long usedAfterFullCollection() {
    Runtime runtime = Runtime.getRuntime();
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
