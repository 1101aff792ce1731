// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.ClaimId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** What each claim proposed last. An attempt that is repeated proposes the same number, as long as that can be granted. */
final class RedlockClaims {
  private final Map<ClaimId, Entry> entries = new ConcurrentHashMap<>();

  /** One claim's numbers. */
  static final class Entry {
    private long number;
    private boolean spent;
    private boolean over;

    /** Returns the number to propose; zero once the claim has ended. */
    synchronized long propose(LongUnaryOperator next) {
      if (over) {
        return 0;
      }
      if (number == 0 || spent) {
        number = next.applyAsLong(number);
        spent = false;
      }
      return number;
    }

    /** The number will not be granted: the next proposal is another one. */
    synchronized void spend(long refused) {
      if (number == refused) {
        spent = true;
      }
    }

    /** Says whether a grant of this number is what the claim has, and not one that was given up. */
    synchronized boolean isCurrent(long granted) {
      return number == granted && !spent;
    }

    /** Returns the highest number that was ever proposed; nothing is proposed any more. */
    synchronized long end() {
      over = true;
      return number;
    }

    synchronized long number() {
      return number;
    }
  }

  Entry of(ClaimId claim) {
    return entries.computeIfAbsent(claim, id -> new Entry());
  }

  @Nullable
  Entry find(ClaimId claim) {
    return entries.get(claim);
  }

  void forget(ClaimId claim) {
    entries.remove(claim);
  }
}
