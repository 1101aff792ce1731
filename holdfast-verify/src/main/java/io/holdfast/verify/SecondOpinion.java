// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.util.ArrayList;
import java.util.List;

/**
 * Judges a record once more, in another way than {@link Judgement}: is there any order in which what was seen of a lock is
 * what a lock does? Where there are tokens they must grow in that order.
 */
final class SecondOpinion {
  private SecondOpinion() {}

  /** Returns the locks for which there is no such order, with the operation at which each ends. */
  static List<Violation> of(List<Fact> facts, ServerTroubles troubles) {
    List<Violation> violations = new ArrayList<>();
    Operations.of(facts, troubles).forEach((lock, operations) -> {
      boolean tokens = operations.stream().allMatch(each -> each.token() != 0);
      // without tokens nobody comes in again
      LockModel model = tokens ? LockModel.REENTRANT : LockModel.MUTEX;
      Linearizability.brokenAt(model, operations)
          .ifPresent(at -> violations.add(violation(at, facts)));
    });
    return violations;
  }

  private static Violation violation(Operation at, List<Fact> facts) {
    Fact fact = facts.stream()
        .filter(each -> each.what() == What.ACQUIRED && each.key().equals(at.owner()))
        .findFirst()
        .orElseThrow();
    return new Violation(
        Invariant.I1,
        "there is no order of all that was seen in which one at a time had the lock, and tokens grew",
        fact);
  }
}
