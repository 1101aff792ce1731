// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** I9: what was invalid once stays so, and its holder is told of the loss: once, in time, and only of a loss. */
final class LossTold extends Judge {
  private final Map<String, Hold> holds = new LinkedHashMap<>();
  private final Set<Integer> gone = new HashSet<>();
  private final Map<Integer, Long> pausedSince = new HashMap<>();

  private static final class Hold {
    final int process;
    boolean told;
    boolean releasing;
    boolean released;
    long tellBy = Long.MAX_VALUE;

    Hold(int process) {
      this.process = process;
    }
  }

  @Override
  void see(Event event) {
    if (gone.contains(event.process())) {
      return;
    }
    switch (event.kind()) {
      case ACQUIRED -> holds.put(key(event, event.other()), new Hold(event.process()));
      case VALID -> {
        Hold hold = hold(event);
        if (hold.releasing || hold.told || hold.tellBy != Long.MAX_VALUE) {
          broken(event, "valid again");
        }
      }
      case INVALID -> invalid(event);
      case LOST -> lost(event);
      case RELEASING, DROPPED -> {
        inTime(event, hold(event));
        hold(event).releasing = true;
      }
      case RELEASED -> {
        Hold hold = hold(event);
        hold.released = event.other() == 1;
        if (hold.released && hold.told) {
          broken(event, "lost and released");
        }
      }
      case PAUSED -> pausedSince.put(event.process(), event.at());
      case RESUMED -> resumed(event);
      case CRASHED, CLOSING -> {
        gone.add(event.process());
        holds.values().removeIf(hold -> hold.process == event.process());
      }
      case END -> holds.values().forEach(hold -> inTime(event, hold));
      default -> {
        // the rest is for the other judges
      }
    }
  }

  private void invalid(Event event) {
    Hold hold = hold(event);
    if (!hold.told && !hold.releasing && hold.tellBy == Long.MAX_VALUE) {
      hold.tellBy = event.at() + bounds().tellWithin();
    }
  }

  private void lost(Event event) {
    Hold hold = hold(event);
    if (hold.told) {
      broken(event, "told twice");
    } else if (hold.released) {
      broken(event, "released and lost");
    } else {
      inTime(event, hold);
    }
    hold.told = true;
  }

  private void inTime(Event event, Hold hold) {
    if (!hold.told && !hold.releasing && event.at() > hold.tellBy) {
      broken(event, "the loss was to be told by " + hold.tellBy);
      hold.tellBy = Long.MAX_VALUE;
    }
  }

  /** A process that does not run cannot be told anything. */
  private void resumed(Event event) {
    Long since = pausedSince.remove(event.process());
    if (since == null) {
      return;
    }
    for (Hold hold : holds.values()) {
      if (hold.process == event.process() && hold.tellBy != Long.MAX_VALUE) {
        hold.tellBy = Math.max(hold.tellBy, event.at() + bounds().tellWithin());
      }
    }
  }

  private Hold hold(Event event) {
    return holds.computeIfAbsent(key(event, event.number()), unknown -> new Hold(event.process()));
  }

  private static String key(Event event, long token) {
    return event.process() + "/" + token + "/" + event.lock();
  }
}
