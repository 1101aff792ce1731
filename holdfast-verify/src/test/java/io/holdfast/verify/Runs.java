// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.verify.VerifySettings.Fault;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** Settings of runs with leases of a second, most of which are never started. */
final class Runs {
  static final Duration LEASE = Duration.ofSeconds(1);

  private Runs() {}

  static VerifySettings with(boolean clockMatters, Set<Fault> faults) {
    return with(clockMatters, faults, List.of());
  }

  /** As that, for a run whose processes are started. */
  static VerifySettings with(boolean clockMatters, Set<Fault> faults, List<String> java) {
    return new VerifySettings(
        "memory:",
        Protocol.HOLDFAST,
        Duration.ofSeconds(10),
        2,
        LEASE,
        Duration.ZERO,
        faults,
        clockMatters,
        7,
        java);
  }
}
