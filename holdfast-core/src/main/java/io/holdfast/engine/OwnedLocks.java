// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.HashSet;
import java.util.Set;

/**
 * What threads own, though every view of it may have been dropped: the next view must find the owner. What a thread owns
 * is forgotten when the thread is.
 */
final class OwnedLocks {
  @SuppressWarnings(
      "ThreadLocalUsage") // clients are few, and what one leaves behind must go with it
  private final ThreadLocal<Set<ThreadLock>> owned = new ThreadLocal<>();

  /** The calling thread owns the lock from now on. */
  void keep(ThreadLock lock) {
    Set<ThreadLock> mine = owned.get();
    if (mine == null) {
      mine = new HashSet<>();
      owned.set(mine);
    }
    mine.add(lock);
  }

  /** The calling thread has left. */
  void letGo(ThreadLock lock) {
    Set<ThreadLock> mine = owned.get();
    if (mine != null && mine.remove(lock) && mine.isEmpty()) {
      owned.remove();
    }
  }
}
