// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * I12: every request is answered once and in time, with what it was promised: "busy" only if somebody else had the lock
 * or waited for it while the request was made, a failure only of the kinds that are declared.
 */
final class Answers extends Judge {
  private static final Set<String> FAILURES =
      Set.of("StoreUnavailableException", "AcquireUnknownException", "IllegalStateException");

  private final Map<Long, Request> open = new LinkedHashMap<>();
  private final Map<String, Busy> locks = new HashMap<>();

  private static final class Request {
    final Event asked;
    long answerBy;

    Request(Event asked, long answerBy) {
      this.asked = asked;
      this.answerBy = answerBy;
    }
  }

  /** When a lock was last taken or waited for, as far as is known. */
  private static final class Busy {
    long taken = Long.MIN_VALUE / 2;
    long awaited = Long.MIN_VALUE / 2;
  }

  @Override
  void see(Event event) {
    switch (event.kind()) {
      case REQUESTED -> open.put(event.number(), new Request(event, answerBy(event)));
      case ACQUIRED, FAILED, BUSY, WITHDRAWN -> answered(event);
      case GRANTED -> {
        // where the store's clock stepped forward, the one before may believe in its lease still
        believed(event);
        busy(event).taken = event.until();
      }
      case EXTENDED -> busy(event).taken = event.until();
      // its holder believes in it until its lease would have ended
      case EVICTED -> believed(event);
      case ENDED -> busy(event).taken = Math.max(event.until(), event.at());
      case QUEUED -> busy(event).awaited = Math.max(busy(event).awaited, event.until());
      case STORE_STEPPED -> {
        if (event.number() < 0) {
          // declared: the lease lasts longer
          locks.values().forEach(busy -> busy.taken -= event.number());
          locks.values().forEach(busy -> busy.awaited -= event.number());
        }
      }
      case RESUMED -> resumed(event);
      case CRASHED -> open.values().removeIf(request -> request.asked.process() == event.process());
      case END -> open.values().forEach(request -> late(event, request));
      default -> {
        // the rest is for the other judges
      }
    }
  }

  private long answerBy(Event event) {
    if (event.other() == Event.WAITS) {
      return Long.MAX_VALUE;
    }
    return event.other() == Event.TRIES
        ? event.at() + bounds().tryWithin()
        : event.until() + bounds().answerWithin();
  }

  private void answered(Event event) {
    Request request = open.remove(event.number());
    if (request == null) {
      broken(event, "answered twice, or never asked");
      return;
    }
    late(event, request);
    if (event.kind() == Kind.BUSY) {
      busy(event, request.asked);
    }
    if (event.kind() == Kind.FAILED && !FAILURES.contains(event.by())) {
      broken(event, "not a declared failure");
    }
  }

  private void believed(Event event) {
    Busy busy = busy(event);
    busy.awaited = Math.max(busy.awaited, busy.taken);
  }

  private void busy(Event event, Event asked) {
    Busy busy = busy(event);
    // who joins others that wait is told what they were told last; who tries is told what the store says
    long since = asked.at() - (asked.other() == Event.TRIES ? 0 : bounds().wakeWithin());
    if (Math.max(busy.taken, busy.awaited) < since) {
      broken(event, "no other client had the lock since it was asked for");
    }
  }

  private void late(Event event, Request request) {
    if (event.at() > request.answerBy) {
      broken(event, "was to be answered by " + request.answerBy + " " + request.asked.toJson());
    }
  }

  /** A process that does not run cannot answer, and its deadline is one of its own clock. */
  private void resumed(Event event) {
    for (Request request : open.values()) {
      if (request.asked.process() == event.process() && request.answerBy != Long.MAX_VALUE) {
        long most = Math.max(bounds().tryWithin(), bounds().answerWithin());
        request.answerBy = Math.max(request.answerBy + event.number(), event.at() + most);
      }
    }
  }

  private Busy busy(Event event) {
    return locks.computeIfAbsent(event.lock(), name -> new Busy());
  }
}
