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

  private static final class Lock {
    String claim = "";
    long freeSince;
    /** The process that the store takes for the holder's; below 0: none. */
    int holder = -1;
    /**
     * Until when a process believes in a lease that ended before its time, without its doing: what else waits in that process
     * stands behind its own hold.
     */
    final Map<Integer, Long> believed = new HashMap<>();
    /** The fair claims in the store's queue, by arrival, and until when they wait. */
    final Map<String, Long> fair = new LinkedHashMap<>();

    /** The lease ends now, and its holder believes in it for longer. */
    void believe(long until) {
      if (holder >= 0) {
        believed.put(holder, until);
      }
    }

    /** Since when a process could know it as free. */
    long freeSince(int process) {
      return Math.max(freeSince, believed.getOrDefault(process, Long.MIN_VALUE));
    }
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
        lock(event).believe(lock(event).freeSince);
        ended(event);
      }
      case LOST, RELEASING ->
        lock(event).believed.computeIfPresent(event.process(), (of, until) -> event.at());
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
    lock.holder = event.process();
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
      lock.holder = -1;
    }
  }

  private void ended(Event event) {
    Lock lock = lock(event);
    lock.freeSince = Math.max(event.at(), event.until());
    lock.holder = -1;
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
          && lock.freeSince(asked.process()) < latest
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
    for (Lock lock : locks.values()) {
      if (lock.freeSince > event.at()) {
        if (event.number() > 0) {
          lock.believe(lock.freeSince);
        }
        lock.freeSince -= event.number();
      }
      lock.fair.replaceAll((claim, until) -> until - event.number());
    }
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
