// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * I5: once there are no faults, a lock that is free while somebody waits for it is granted within the bound; everybody
 * who waits is answered in the end; and those that asked for fairness are granted in the order of their arrival in the
 * store, at all times.
 */
final class WakeUp extends Judge {
  private final Map<String, Lock> locks = new HashMap<>();
  private final Map<Long, Event> waiting = new LinkedHashMap<>();
  private final Set<Integer> dead = new HashSet<>();

  /** Since when a process that was stopped runs again; not before the end of time, while it is. */
  private final Map<Integer, Long> runningSince = new HashMap<>();

  private long quietSince = Long.MAX_VALUE;

  /** Until when a store's clock that stepped back may keep what has died alive: declared. */
  private long steppedUntil = Long.MIN_VALUE;

  /** Leases that ended before their time and without their holders' doing, by claim. */
  private final Map<String, Belief> believed = new HashMap<>();

  /** A process takes itself for the holder: what else waits in it stands behind its own hold, and asks the store nothing. */
  private record Belief(String lock, int process, long until) {
    Belief until(long end) {
      return new Belief(lock, process, Math.min(until, end));
    }
  }

  private static final class Lock {
    String claim = "";
    int process;
    long freeSince;
    /** The fair claims in the store's queue, by arrival, and until when they wait. */
    final Map<String, Long> fair = new LinkedHashMap<>();
  }

  @Override
  void see(Event event) {
    switch (event.kind()) {
      case REQUESTED -> {
        if (event.other() != Event.TRIES) {
          waiting.put(event.number(), event);
        }
      }
      case ACQUIRED, BUSY, FAILED, WITHDRAWN -> waiting.remove(event.number());
      case CRASHED, CLOSING -> {
        dead.add(event.process());
        waiting.values().removeIf(asked -> asked.process() == event.process());
      }
      case QUEUED -> queued(event);
      case UNQUEUED -> lock(event).fair.remove(event.claim());
      case EXPIRED -> expired(event);
      case GRANTED -> granted(event);
      case EXTENDED -> extended(event);
      case ENDED -> ended(event);
      case EVICTED -> {
        believe(event.lock(), lock(event));
        ended(event);
      }
      case CLAIM_ENDING ->
        believed.computeIfPresent(event.claim(), (claim, belief) -> belief.until(event.at()));
      case STORE_STEPPED -> stepped(event);
      case PAUSED -> runningSince.put(event.process(), Long.MAX_VALUE / 2);
      case RESUMED -> runningSince.put(event.process(), event.at());
      case QUIET -> quietSince = event.at() + bounds().settleWithin();
      case END -> atRest(event);
      default -> {
        // the rest is for the other judges
      }
    }
  }

  private void queued(Event event) {
    if (event.other() == 1) {
      lock(event).fair.put(event.claim(), event.until());
    }
  }

  private void granted(Event event) {
    Lock lock = lock(event);
    free(event, lock);
    if (event.other() == 1) {
      inTurn(event, lock);
    }
    lock.claim = event.claim();
    lock.process = event.process();
    lock.freeSince = event.until();
    if (dead.contains(event.process()) && event.by().equals("push")) {
      lock.freeSince = Math.min(event.until(), event.at() + bounds().deadWaiter());
    }
  }

  private void inTurn(Event event, Lock lock) {
    for (Map.Entry<String, Long> first : lock.fair.entrySet()) {
      if (first.getKey().equals(event.claim())) {
        break;
      }
      if (event.at() < first.getValue()) {
        broken(event, "granted before " + first.getKey() + ", which has waited longer");
        break;
      }
    }
    lock.fair.remove(event.claim());
  }

  private void expired(Event event) {
    Lock lock = lock(event);
    if (event.other() == 1) {
      lock.fair.remove(event.claim());
    } else {
      lock.freeSince = Math.min(lock.freeSince, event.at());
    }
  }

  private void ended(Event event) {
    Lock lock = lock(event);
    lock.freeSince = Math.max(event.at(), event.until());
    lock.claim = "";
  }

  private void extended(Event event) {
    Lock lock = lock(event);
    if (lock.claim.equals(event.claim())) {
      lock.freeSince = event.until();
    }
  }

  /** Somebody waits, and the lock was free: for how long? */
  private void free(Event event, Lock lock) {
    if (quietSince == Long.MAX_VALUE) {
      return;
    }
    long latest = event.at() - bounds().wakeWithin();
    for (Event asked : waiting.values()) {
      if (asked.lock().equals(event.lock())
          && Math.max(lock.freeSince, believedUntil(asked)) < latest
          && quietSince < latest
          && steppedUntil < latest
          && asked.at() < latest
          && runningSince.getOrDefault(asked.process(), 0L) + bounds().settleWithin() < latest) {
        broken(event, "free since " + lock.freeSince + ", and awaited: " + asked.toJson());
        return;
      }
    }
  }

  private void stepped(Event event) {
    if (event.number() < 0) {
      steppedUntil = Math.max(steppedUntil, event.at() + bounds().deadWaiter()) - event.number();
    }
    for (Map.Entry<String, Lock> each : locks.entrySet()) {
      Lock lock = each.getValue();
      if (lock.freeSince > event.at()) {
        if (event.number() > 0) {
          believe(each.getKey(), lock);
        }
        lock.freeSince -= event.number();
      }
      lock.fair.replaceAll((claim, until) -> until - event.number());
    }
  }

  /** The lease of the one that has the lock, if any, ends now, and its process does not know it. */
  private void believe(String name, Lock lock) {
    if (!lock.claim.isEmpty()) {
      believed.put(lock.claim, new Belief(name, lock.process, lock.freeSince));
    }
  }

  private long believedUntil(Event asked) {
    long until = Long.MIN_VALUE;
    for (Belief each : believed.values()) {
      if (each.lock().equals(asked.lock()) && each.process() == asked.process()) {
        until = Math.max(until, each.until());
      }
    }
    return until;
  }

  private void atRest(Event event) {
    for (Event asked : waiting.values()) {
      broken(event, "still waits: " + asked.toJson());
    }
  }

  private Lock lock(Event event) {
    return locks.computeIfAbsent(event.lock(), name -> new Lock());
  }
}
