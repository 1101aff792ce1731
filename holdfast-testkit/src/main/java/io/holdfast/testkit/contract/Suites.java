// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The suites of the contract, and which of them need something that not every store has. */
final class Suites {
  private static final Map<Class<? extends Contract>, Optional<Capability>> ALL =
      new LinkedHashMap<>();

  static {
    every(ExclusionContract.class);
    every(NamesContract.class);
    every(TokenContract.class);
    every(LeaseContract.class);
    every(LossContract.class);
    every(WaitingContract.class);
    every(InterruptContract.class);
    every(AsyncContract.class);
    every(AbandonedHoldContract.class);
    every(OutageContract.class);
    every(ClosingContract.class);
    every(HandOverContract.class);
    every(HoldAtLeastContract.class);
    every(WorkContract.class);
    every(JavaLockContract.class);
    every(ListenerContract.class);
    every(AdminContract.class);
    every(BadInputContract.class);
    every(DeclarationsContract.class);
    ALL.put(FairnessContract.class, Optional.of(Capability.FAIR));
    ALL.put(RestartContract.class, Optional.of(Capability.RESTART));
    ALL.put(StallContract.class, Optional.of(Capability.STALL));
    ALL.put(ProcessContract.class, Optional.of(Capability.PROCESSES));
  }

  private Suites() {}

  private static void every(Class<? extends Contract> suite) {
    ALL.put(suite, Optional.empty());
  }

  static Set<Class<? extends Contract>> all() {
    return ALL.keySet();
  }

  /** Returns what a store with these capabilities must run. */
  static Set<Class<? extends Contract>> requiredWith(Set<Capability> capabilities) {
    Set<Class<? extends Contract>> required = new LinkedHashSet<>();
    ALL.forEach((suite, needs) -> {
      if (needs.isEmpty() || capabilities.contains(needs.get())) {
        required.add(suite);
      }
    });
    return required;
  }

  /** Returns the suite that a class is a run of. */
  static Optional<Class<? extends Contract>> suiteOf(Class<?> run) {
    for (@Nullable Class<?> each = run; each != null; each = each.getSuperclass()) {
      for (Class<? extends Contract> suite : ALL.keySet()) {
        if (suite.equals(each)) {
          return Optional.of(suite);
        }
      }
    }
    return Optional.empty();
  }
}
