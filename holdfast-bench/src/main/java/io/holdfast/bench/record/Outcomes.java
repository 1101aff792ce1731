// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.record;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import io.holdfast.verify.VerifySettings.Fault;
import java.util.Map;
import java.util.Set;

/** What a store declares of each fault, beside what was seen of it: a line for each. */
final class Outcomes {
  static final String HEAD =
      "| Store | Fault | Times | What is expected | So may break | Seen |\n|---|---|---|---|---|---|\n";

  private static final String NOTHING = "nothing";

  private final String store;
  private final Guarantees guarantees;
  private final Set<Fault> injected;
  private final Map<String, Long> counts;
  private final String broken;

  /**
   * Takes what a run has shown.
   *
   * @param store the store's name and version
   * @param guarantees what it declares
   * @param injected the faults of the run
   * @param counts what was counted
   * @param broken which invariants were broken, in words
   */
  Outcomes(
      String store,
      Guarantees guarantees,
      Set<Fault> injected,
      Map<String, Long> counts,
      String broken) {
    this.store = store;
    this.guarantees = guarantees;
    this.injected = injected;
    this.counts = counts;
    this.broken = broken;
  }

  String rows() {
    return row(
            Fault.PAUSE,
            "pauses",
            "a holder that wakes after its lease is told, or kept out by its token",
            NOTHING,
            count("losses told") + " losses told, " + count("overlaps prevented by the token")
                + " writes kept out")
        + row(
            Fault.KILL,
            "kills",
            "its locks can be had after their leases",
            NOTHING,
            count("grants") + " grants, each lock to be had in the end")
        + restart()
        + row(
            Fault.PARTITION,
            "times it was cut off",
            "no answer; what is not renewed is lost, and told in time",
            NOTHING,
            count("requests without an answer") + " requests without an answer")
        + clock();
  }

  private String restart() {
    boolean keeps = guarantees
        .given()
        .containsAll(Set.of(Guarantee.HOLDS_SURVIVE_RESTART, Guarantee.TOKENS_SURVIVE_RESTART));
    return row(
        Fault.RESTART,
        "restarts of the server",
        keeps
            ? "keeps holds and tokens"
            : "keeps what its disk has, which depends on how the server is set up",
        keeps ? NOTHING : "I1, I3, I6; not as set up here",
        "broke " + broken);
  }

  private String clock() {
    boolean immune = guarantees.given().contains(Guarantee.IMMUNE_TO_CLOCK_STEPS);
    return row(
        Fault.CLOCK,
        "steps of its clock",
        immune ? "does not matter" : "a step may end leases early; tokens keep the old holder out",
        immune ? NOTHING : "I1, I6; never I4",
        count("leases that a step has ended") + " leases ended early");
  }

  private String row(Fault fault, String times, String expected, String breaks, String seen) {
    boolean done = injected.contains(fault);
    return "| " + store + " | " + fault.name().toLowerCase(java.util.Locale.ROOT) + " | "
        + (done ? Long.toString(count(times)) : "cannot be injected") + " | " + expected + " | "
        + breaks + " | " + (done ? seen : "") + " |\n";
  }

  private long count(String name) {
    return counts.getOrDefault(name, 0L);
  }
}
