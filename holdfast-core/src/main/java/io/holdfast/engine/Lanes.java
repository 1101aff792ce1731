// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.spi.LockKey;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The lanes of one client, one for each name in use. A lane lives as long as somebody refers to it: a {@link
 * EngineLock}, a claim that is not over, an entry of the timer, a thread that owns the lock. One that waits for
 * something is always referred to by what will come.
 */
final class Lanes {
  private static final class Entry extends WeakReference<Lane> {
    private final LockKey key;

    Entry(Lane lane, ReferenceQueue<Lane> queue) {
      super(lane, queue);
      this.key = lane.key;
    }
  }

  private final Engine engine;
  private final Map<LockKey, Entry> entries = new ConcurrentHashMap<>();
  private final ReferenceQueue<Lane> gone = new ReferenceQueue<>();

  Lanes(Engine engine) {
    this.engine = engine;
  }

  Lane of(LockKey key) {
    forgetGone();
    while (true) {
      Entry known = entries.get(key);
      Lane lane = known == null ? null : known.get();
      if (lane != null) {
        return lane;
      }
      if (known != null) {
        entries.remove(key, known);
      }
      Lane fresh = new Lane(engine, key);
      if (entries.putIfAbsent(key, new Entry(fresh, gone)) == null) {
        return fresh;
      }
    }
  }

  private void forgetGone() {
    for (Reference<? extends Lane> old = gone.poll(); old != null; old = gone.poll()) {
      Entry entry = (Entry) old;
      entries.remove(entry.key, entry);
    }
  }

  List<Lane> all() {
    List<Lane> all = new ArrayList<>();
    for (Entry entry : entries.values()) {
      Lane lane = entry.get();
      if (lane != null) {
        all.add(lane);
      }
    }
    return all;
  }
}
