// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What threads own, though every view of it may have been dropped: the next view must find the owner. What a thread owns
 * is forgotten when the thread is.
 *
 * <p>A thread refers to what it owns by a {@link Tie}. Closing the client unties it: a pooled thread that has never
 * unlocked must not keep the client for as long as it lives.
 */
final class OwnedLocks {
  /** What a thread refers to. */
  static final class Tie {
    @SuppressWarnings("UnusedVariable") // it is there to refer
    private volatile @Nullable ThreadLock lock;

    Tie(ThreadLock lock) {
      this.lock = lock;
    }
  }

  @SuppressWarnings(
      "ThreadLocalUsage") // clients are few, and what one leaves behind must go with it
  private final ThreadLocal<Set<Tie>> owned = new ThreadLocal<>();

  /** What was untied: from then on the client itself keeps it, as long as somebody keeps the client. */
  private final Set<ThreadLock> untied = ConcurrentHashMap.newKeySet();

  /** The calling thread owns the lock from now on. */
  void keep(ThreadLock lock) {
    Set<Tie> mine = owned.get();
    if (mine == null) {
      mine = new HashSet<>();
      owned.set(mine);
    }
    mine.add(lock.tie);
  }

  /** The calling thread has left. */
  void letGo(ThreadLock lock) {
    Set<Tie> mine = owned.get();
    if (mine != null && mine.remove(lock.tie) && mine.isEmpty()) {
      owned.remove();
    }
  }

  /** The client is closed: no thread keeps this lock any more. */
  void untie(ThreadLock lock) {
    untied.add(lock);
    lock.tie.lock = null;
  }
}
