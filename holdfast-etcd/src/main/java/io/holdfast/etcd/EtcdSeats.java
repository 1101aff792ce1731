// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Whose keys are whose. A key that was deleted stays in the server's index until the next compaction, which may never come,
 * and each look at a queue passes over it. So a claim takes the key of an earlier claim of this client's, if nothing of that
 * can come any more; else a key that nobody has had, with its own number.
 *
 * <p>A key that something may still come for is nobody's for good: a deletion that is applied late must not meet the key of
 * another claim.
 */
final class EtcdSeats {
  /** More locks are not remembered: their next claims have new keys. */
  private static final int MOST_LOCKS = 10_000;

  /** More of one lock's are not remembered. */
  private static final int MOST_FREE = 64;

  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  private final Map<Seat, ClaimId> taken = new HashMap<>();
  private final LinkedHashMap<LockKey, Deque<Long>> free = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * A key of this client's.
   *
   * @param name the lock
   * @param number the number of the claim that had it first
   */
  record Seat(LockKey name, long number) {}

  /** Gives a claim a key that nothing else can touch. */
  Seat take(LockKey name, ClaimId claim) {
    lock.lock();
    try {
      Deque<Long> numbers = free.get(name);
      long number = claim.number();
      if (numbers != null) {
        number = numbers.removeLast();
        if (numbers.isEmpty()) {
          free.remove(name);
        }
      }
      Seat seat = new Seat(name, number);
      taken.put(seat, claim);
      return seat;
    } finally {
      lock.unlock();
    }
  }

  /**
   * A claim is over.
   *
   * @param nothingComes whether its key is gone, and every request that could touch it was answered
   */
  void leave(Seat seat, boolean nothingComes) {
    lock.lock();
    try {
      taken.remove(seat);
      if (!nothingComes) {
        return;
      }
      Deque<Long> numbers = free.computeIfAbsent(seat.name, name -> new ArrayDeque<>());
      if (numbers.size() < MOST_FREE) {
        numbers.addLast(seat.number);
      }
      if (free.size() > MOST_LOCKS) {
        free.remove(free.keySet().iterator().next());
      }
    } finally {
      lock.unlock();
    }
  }

  /** Says whether a key is a claim's, or will be: nobody else may touch it. */
  boolean isInUse(Seat seat) {
    lock.lock();
    try {
      return taken.containsKey(seat) || isFree(seat);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Says whose a key is that was seen on the server a moment ago.
   *
   * @param first the claim that had it first
   * @return empty if whoever had it then is over
   */
  Optional<ClaimId> owner(Seat seat, ClaimId first) {
    lock.lock();
    try {
      return isFree(seat) ? Optional.empty() : Optional.of(taken.getOrDefault(seat, first));
    } finally {
      lock.unlock();
    }
  }

  private boolean isFree(Seat seat) {
    Deque<Long> numbers = free.get(seat.name);
    return numbers != null && numbers.contains(seat.number);
  }
}
