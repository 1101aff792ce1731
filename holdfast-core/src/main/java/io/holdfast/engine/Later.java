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
    if (first != null) {
      Guard.run(first);
    }
    if (more != null) {
      more.forEach(Guard::run);
    }
    if (last != null) {
      last.forEach(Guard::run);
    }
  }
}
