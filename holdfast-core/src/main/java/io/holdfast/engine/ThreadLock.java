// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.HoldLostException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Which thread owns one name, and how often it has entered. All views of the name share it.
 *
 * <p>{@link #current} is written by the thread that has just acquired the hold or is about to release it, so between
 * grants only an owner that lost its hold races for it; the entry itself is touched by its own thread only. An owner
 * whose hold was lost may find its place taken by the next one: it is then kept aside until it has left as often as it
 * had entered.
 */
final class ThreadLock {
  /** One thread's ownership. */
  static final class Owner {
    final Thread thread;
    final EngineHold hold;
    int count = 1;

    Owner(Thread thread, EngineHold hold) {
      this.thread = thread;
      this.hold = hold;
    }
  }

  /** Keeps the lane alive, and with it this: the next view of the name must find the owner. */
  private final Lane lane;

  /** What the owning thread refers to. */
  final OwnedLocks.Tie tie = new OwnedLocks.Tie(this);

  /** Serialises the next owner with one that lost its hold and leaves only now. */
  private final ReentrantLock changes = new ReentrantLock();

  private volatile @Nullable Owner current;

  /** Owners that lost their hold and were overtaken; empty nearly always. */
  private final Map<Thread, Owner> overtaken = new ConcurrentHashMap<>(0);

  ThreadLock(Lane lane) {
    this.lane = lane;
  }

  /** Returns what a calling thread owns, lost or not. */
  @Nullable
  Owner mine(Thread thread) {
    Owner owner = current;
    if (owner != null && owner.thread.equals(thread)) {
      return owner;
    }
    return overtaken.isEmpty() ? null : overtaken.get(thread);
  }

  /** Who owns it, for a log; takes no lock. */
  String words() {
    Owner owner = current;
    return owner == null
        ? "not owned by a thread of this client"
        : "owned by thread \"" + owner.thread.getName() + "\": " + owner.hold.words();
  }

  /** Returns what a calling thread owns, lost or not. */
  Owner mineOrThrow(Thread thread) {
    Owner owner = mine(thread);
    if (owner == null) {
      throw new IllegalMonitorStateException(
          "thread " + thread.getName() + " does not own lock \"" + lane.key + "\"");
    }
    return owner;
  }

  /** Enters again if a calling thread owns the lock; says whether it did. */
  boolean enterAgain(Thread thread) {
    Owner owner = mine(thread);
    if (owner == null) {
      return false;
    }
    if (!owner.hold.isOursByState()) {
      HoldLostException loss = owner.hold.loss();
      throw new IllegalStateException(
          "the hold on lock \"" + lane.key
              + "\" is no longer ours; unlock() as often as it was locked"
              + " before locking again",
          loss);
    }
    if (owner.count == Integer.MAX_VALUE) {
      throw new IllegalStateException("lock \"" + lane.key + "\" was entered too often");
    }
    owner.count++;
    return true;
  }

  /** A calling thread has just acquired the hold. */
  void own(EngineHold hold, Thread thread) {
    changes.lock();
    try {
      ownLocked(hold, thread);
    } finally {
      changes.unlock();
    }
  }

  private void ownLocked(EngineHold hold, Thread caller) {
    Owner before = current;
    if (before != null && before.thread.isAlive()) {
      overtaken.put(before.thread, before);
    }
    overtaken.keySet().removeIf(thread -> !thread.isAlive());
    current = new Owner(caller, hold);
    lane.engine.owned.keep(this);
  }

  /** The calling thread left for the last time; to be called before the hold is released. */
  void disown(Owner owner) {
    changes.lock();
    try {
      if (current == owner) {
        current = null;
      }
      overtaken.remove(owner.thread, owner);
      lane.engine.owned.letGo(this);
    } finally {
      changes.unlock();
    }
  }
}
