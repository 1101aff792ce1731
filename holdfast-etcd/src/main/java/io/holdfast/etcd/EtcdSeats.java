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
 * can come any more; else a key that nobody has had.
 *
 * <p>A key that something may still come for is nobody's for good: a deletion that is applied late must not meet the key of
 * another claim.
 */
final class EtcdSeats {
  /**
   * The first number of a key. The engine's claims never count that far: a claim that asks again after its key was given
   * away must not find it under its own number.
   */
  static final long FIRST = 1_000_000_000_000_000L;

  /** More locks, and more claims that left a key, are not remembered: the next claims have new keys. */
  private static final int MOST = 10_000;

  /** More of one lock's are not remembered. */
  private static final int MOST_FREE = 64;

  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  private final Map<Seat, ClaimId> taken = new HashMap<>();
  private long next = FIRST;
  private final LinkedHashMap<LockKey, Deque<Long>> free = new LinkedHashMap<>(16, 0.75f, true);

  /** What claims had that left a key, or may have: asked to end once more, they are to find it. */
  private final LinkedHashMap<ClaimId, Seat> left = new LinkedHashMap<>();

  /**
   * A key of this client's.
   *
   * @param name the lock
   * @param number no two keys have the same
   */
  record Seat(LockKey name, long number) {}

  /** Gives a claim a key that nothing else can touch. */
  Seat take(LockKey name, ClaimId claim) {
    lock.lock();
    try {
      Deque<Long> numbers = free.get(name);
      long number;
      if (numbers == null) {
        number = next++;
      } else {
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
      ClaimId claim = taken.remove(seat);
      if (!nothingComes) {
        if (claim != null) {
          left.put(claim, seat);
          keepFew(left);
        }
        return;
      }
      Deque<Long> numbers = free.computeIfAbsent(seat.name, name -> new ArrayDeque<>());
      if (numbers.size() < MOST_FREE) {
        numbers.addLast(seat.number);
      }
      keepFew(free);
    } finally {
      lock.unlock();
    }
  }

  private static <K> void keepFew(Map<K, ?> map) {
    if (map.size() > MOST) {
      map.remove(map.keySet().iterator().next());
    }
  }

  /** Returns the key that a claim had which is over, and which nobody has since; empty if it left none. */
  Optional<Seat> left(ClaimId claim) {
    lock.lock();
    try {
      return Optional.ofNullable(left.get(claim));
    } finally {
      lock.unlock();
    }
  }

  /** Says whether a key may be there that no claim has, nor will have: nobody but who ends it touches that. */
  boolean isNobodys(Seat seat) {
    lock.lock();
    try {
      return seat.number >= FIRST && !taken.containsKey(seat) && !isFree(seat);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Says whose a key is that was seen on the server a moment ago.
   *
   * @param nobody the claim that a key without an owner is ended as
   * @return empty if whoever had it then is over
   */
  Optional<ClaimId> owner(Seat seat, ClaimId nobody) {
    lock.lock();
    try {
      return isFree(seat) ? Optional.empty() : Optional.of(taken.getOrDefault(seat, nobody));
    } finally {
      lock.unlock();
    }
  }

  private boolean isFree(Seat seat) {
    Deque<Long> numbers = free.get(seat.name);
    return numbers != null && numbers.contains(seat.number);
  }
}
