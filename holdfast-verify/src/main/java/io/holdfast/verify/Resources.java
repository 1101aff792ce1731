// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Ticker;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the locks are for: for each of them a resource that remembers the highest token and refuses older ones, and one that
 * takes whatever comes. Both are here, in the process that judges, so that the order of writes is beyond doubt.
 */
final class Resources {
  private final Journal journal;
  private final ReentrantLock guard = new ReentrantLock();
  private final Map<String, Long> highest = new HashMap<>();

  Resources(Journal journal) {
    this.journal = journal;
  }

  /** Writes to both; returns whether the guarded one took it. It has nothing to check where a protocol has no tokens. */
  boolean write(String worker, String lock, long hold, long token) {
    guard.lock();
    try {
      long at = Ticker.system().nanos();
      long before = highest.getOrDefault(lock, 0L);
      boolean stale = token != 0 && token < before;
      if (stale) {
        journal.add(
            new Fact(What.OVERWRITTEN, at, worker, lock, hold, token, "after token " + before));
      } else {
        highest.put(lock, token);
      }
      What answer = stale ? What.REFUSED : What.ACCEPTED;
      journal.add(new Fact(answer, at, worker, lock, hold, token, ""));
      return !stale;
    } finally {
      guard.unlock();
    }
  }
}
