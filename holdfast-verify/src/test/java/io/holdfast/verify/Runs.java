// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.verify.VerifySettings.Fault;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** Settings of runs that are never started, with leases of a second. */
final class Runs {
  static final Duration LEASE = Duration.ofSeconds(1);

  private Runs() {}

  static VerifySettings with(boolean clockMatters, Set<Fault> faults) {
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
        List.of());
  }
}
