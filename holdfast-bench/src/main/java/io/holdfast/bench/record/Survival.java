// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.record;

import io.holdfast.Guarantees;
import io.holdfast.verify.Verdict;
import io.holdfast.verify.VerifySettings.Fault;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;

/** One store's line in the record. */
record Survival(
    String store,
    String version,
    long seed,
    long seconds,
    Duration lease,
    Guarantees guarantees,
    Set<Fault> injected,
    Verdict verdict) {
  static final String HEAD =
      "| Store | Requests | Grants | Pauses | Kills | Restarts | Cut off | Clock steps |"
          + " Losses told | Writes kept out by tokens | Leases that a step has ended | Broken | Again |\n"
          + "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";

  boolean passed() {
    return verdict.outcome() == Verdict.Outcome.PASSED;
  }

  String row() {
    return "| " + version + cells() + " | " + broken() + " | `dev/verify --seed " + seed
        + " --seconds " + seconds
        + (lease.equals(FaultRuns.LEASE) ? "" : " --lease " + lease.toSeconds())
        + " " + store + "` |\n";
  }

  /** What was expected of each fault, and seen. */
  String outcomes() {
    return new Outcomes(version, guarantees, injected, verdict.counts(), broken()).rows();
  }

  private String cells() {
    StringBuilder cells = new StringBuilder();
    for (String name : new String[] {
      "requests",
      "grants",
      "pauses",
      "kills",
      "restarts of the server",
      "times it was cut off",
      "steps of its clock",
      "losses told",
      "overlaps prevented by the token",
      "leases that a step has ended"
    }) {
      cells.append(" | ").append(verdict.counts().getOrDefault(name, 0L));
    }
    return cells.toString();
  }

  private String broken() {
    return switch (verdict.outcome()) {
      case PASSED -> "nothing";
      case BROKEN ->
        verdict.invariants().stream().map(Enum::name).collect(Collectors.joining(", "));
      case INCONCLUSIVE -> "nothing can be said: " + verdict.why();
    };
  }
}
