// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Judges a record once more, in another way than {@link Judgement}: is there any order in which what was seen of a lock is
 * what a lock does? Where there are tokens they must grow in that order.
 */
final class SecondOpinion {
  private SecondOpinion() {}

  /** Returns the locks for which there is no such order, with the operation at which each ends. */
  static List<Violation> of(List<Fact> facts) {
    List<Violation> violations = new ArrayList<>();
    Operations.of(facts).forEach((lock, operations) -> {
      boolean tokens = operations.stream().allMatch(each -> each.token() != 0);
      Optional<Operation> mutex = Linearizability.brokenAt(LockModel.MUTEX, operations);
      Optional<Operation> fenced =
          tokens ? Linearizability.brokenAt(LockModel.FENCED, operations) : Optional.empty();
      if (mutex.isPresent()) {
        violations.add(violation("I1", "that one at a time had the lock", mutex.get(), facts));
      } else if (fenced.isPresent()) {
        violations.add(violation("I3", "that tokens grew", fenced.get(), facts));
      }
    });
    return violations;
  }

  private static Violation violation(
      String invariant, String what, Operation at, List<Fact> facts) {
    Fact fact = facts.stream()
        .filter(each -> each.what() == What.ACQUIRED && each.key().equals(at.owner()))
        .findFirst()
        .orElseThrow();
    return new Violation(
        invariant, "there is no order of all that was seen in which it can be " + what, fact);
  }
}
