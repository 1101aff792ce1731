// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.spi.LockKey;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The thread-owned locks of one client, one for each name that a view of exists or a thread owns. A view keeps its lock
 * alive, and so does an owner, through {@link #keepAlive}.
 */
final class ThreadLocks {
  private static final class Entry extends WeakReference<ThreadLock> {
    private final LockKey key;

    Entry(ThreadLock lock, ReferenceQueue<ThreadLock> queue) {
      super(lock, queue);
      this.key = lock.key;
    }
  }

  private final Map<LockKey, Entry> entries = new ConcurrentHashMap<>();
  private final ReferenceQueue<ThreadLock> gone = new ReferenceQueue<>();

  /** What the calling thread owns, though the views of it may be dropped meanwhile. It goes when the thread does. */
  @SuppressWarnings(
      "ThreadLocalUsage") // clients are few, and what one leaves behind must go with it
  private final ThreadLocal<Set<ThreadLock>> owned = new ThreadLocal<>();

  ThreadLock of(LockKey key) {
    for (Object old = gone.poll(); old != null; old = gone.poll()) {
      Entry entry = (Entry) old;
      entries.remove(entry.key, entry);
    }
    while (true) {
      Entry entry = entries.computeIfAbsent(key, k -> new Entry(new ThreadLock(this, k), gone));
      ThreadLock lock = entry.get();
      if (lock != null) {
        return lock;
      }
      entries.remove(key, entry);
    }
  }

  /** The calling thread owns the lock from now on. */
  void keepAlive(ThreadLock lock) {
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
