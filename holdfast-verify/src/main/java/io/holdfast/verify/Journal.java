// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Ticker;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** All facts, in the order of their times. */
final class Journal {
  private final ReentrantLock guard = new ReentrantLock();
  private final Condition grown = guard.newCondition();
  private final List<Fact> facts = new ArrayList<>();
  private final Set<String> holders = new LinkedHashSet<>();

  void add(Fact fact) {
    guard.lock();
    try {
      facts.add(fact);
      switch (fact.what()) {
        case ACQUIRED -> holders.add(fact.worker());
        case RELEASING, LOST, INVALID, KILLED, DIED -> holders.remove(fact.worker());
        default -> {
          // it changes nothing
        }
      }
      grown.signalAll();
    } finally {
      guard.unlock();
    }
  }

  /** Waits until somebody has said something. */
  boolean await(What what, String worker, long nanos) throws InterruptedException {
    Ticker ticker = Ticker.system();
    long by = ticker.nanos() + nanos;
    int seen = 0;
    guard.lock();
    try {
      while (true) {
        for (; seen < facts.size(); seen++) {
          Fact each = facts.get(seen);
          if (each.worker().equals(worker) && each.what() == What.DIED) {
            return false;
          }
          if (each.worker().equals(worker) && each.what() == what) {
            return true;
          }
        }
        long left = by - ticker.nanos();
        if (left <= 0) {
          return false;
        }
        long unused = grown.awaitNanos(left);
      }
    } finally {
      guard.unlock();
    }
  }

  /** Who has a lock just now, as far as they have said. */
  List<String> holders() {
    guard.lock();
    try {
      return List.copyOf(holders);
    } finally {
      guard.unlock();
    }
  }

  /** How often something was said until now. */
  long count(What what) {
    guard.lock();
    try {
      return facts.stream().filter(each -> each.what() == what).count();
    } finally {
      guard.unlock();
    }
  }

  /** Everything until now, by time; what has the same time, as it came. */
  List<Fact> inOrder() {
    guard.lock();
    try {
      List<Fact> ordered = new ArrayList<>(facts);
      ordered.sort(Comparator.comparingLong(Fact::at));
      return ordered;
    } finally {
      guard.unlock();
    }
  }
}
