// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.verify.Operation.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes operations of a record. A hold was taken between the request and its answer. It ended while it was given back; and
 * where it was lost, or its process died, at any time after it was last seen to be valid; earlier, if a step of the
 * server's clock may have ended it. A request that failed may have taken the lock and given it back: that asks nothing of
 * anybody else, and is left out.
 */
final class Operations {
  /** What is known of a hold. */
  private static final class Seen {
    private final long requested;
    private long valid;
    private long acquired;
    private boolean has;
    private long token;
    private long releasing;
    private long released = Operation.OPEN;
    private final List<Long> reentered = new ArrayList<>();
    private final List<Long> left = new ArrayList<>();

    Seen(long requested) {
      this.requested = requested;
      this.valid = requested;
    }
  }

  private Operations() {}

  /** Returns what was done to each lock. */
  static Map<String, List<Operation>> of(List<Fact> facts, ServerTroubles troubles) {
    Map<String, Map<String, Seen>> locks = new LinkedHashMap<>();
    for (Fact fact : facts) {
      if (fact.hold() == 0) {
        continue;
      }
      Map<String, Seen> holds = locks.computeIfAbsent(fact.lock(), name -> new LinkedHashMap<>());
      see(holds.computeIfAbsent(fact.key(), key -> new Seen(fact.at())), fact);
    }
    Map<String, List<Operation>> operations = new LinkedHashMap<>();
    locks.forEach((name, holds) -> {
      List<Operation> done = new ArrayList<>();
      holds.forEach((key, hold) -> add(done, key, hold, troubles));
      operations.put(name, done);
    });
    return operations;
  }

  private static void see(Seen hold, Fact fact) {
    switch (fact.what()) {
      case ACQUIRED -> {
        hold.has = true;
        hold.acquired = fact.at();
        hold.token = fact.token();
      }
      case VALID -> hold.valid = fact.at();
      case RELEASING -> hold.releasing = fact.at();
      case RELEASED -> hold.released = fact.at();
      case REENTERED -> hold.reentered.add(fact.at());
      case LEFT -> hold.left.add(fact.at());
      default -> {
        // says nothing of when it was held
      }
    }
  }

  private static void add(List<Operation> done, String key, Seen hold, ServerTroubles troubles) {
    if (!hold.has) {
      return;
    }
    boolean back = hold.released != Operation.OPEN;
    long from = troubles.endedNotBefore(back ? hold.releasing : hold.valid);
    done.add(new Operation(Kind.ACQUIRE, key, hold.token, hold.requested, hold.acquired));
    // who was in again and lost it all is out at once: only those that left are counted; when they say so they may be late
    for (int i = 0; i < hold.left.size(); i++) {
      done.add(new Operation(Kind.ACQUIRE, key, hold.token, hold.acquired, hold.reentered.get(i)));
      done.add(new Operation(Kind.END, key, hold.token, hold.acquired, hold.left.get(i)));
    }
    done.add(
        new Operation(Kind.END, key, hold.token, Math.max(hold.requested, from), hold.released));
  }
}
