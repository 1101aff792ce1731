// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is to be done once the lane's lock is free again: I/O, waking threads, telling listeners. In order. */
final class Later {
  private @Nullable Runnable first;
  private @Nullable List<Runnable> more;
  private @Nullable List<Runnable> last;

  void add(Runnable action) {
    if (first == null) {
      first = action;
    } else {
      if (more == null) {
        more = new ArrayList<>(4);
      }
      more.add(action);
    }
  }

  /** Adds what is to come after everything else, also after what is added later. */
  void addLast(Runnable action) {
    if (last == null) {
      last = new ArrayList<>(2);
    }
    last.add(action);
  }

  void run() {
    Runnable only = first;
    if (only != null && more == null && last == null) {
      Guard.run(only);
    } else {
      runAll();
    }
  }

  /** Whatever is still to come must not be kept waiting by what comes before it: see {@link Patience}. */
  private void runAll() {
    List<Runnable> all = new ArrayList<>(4);
    if (first != null) {
      all.add(first);
    }
    if (more != null) {
      all.addAll(more);
    }
    if (last != null) {
      all.addAll(last);
    }
    int end = all.size() - 1;
    for (int i = 0; i < end; i++) {
      Runnable action = all.get(i);
      Guard.run(() -> Patience.inTheMiddle(action));
    }
    if (end >= 0) {
      Guard.run(all.get(end));
    }
  }
}
