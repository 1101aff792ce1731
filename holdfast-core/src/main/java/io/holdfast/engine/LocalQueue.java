// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The requests of this process that wait for one name, in arrival order. A doubly linked list through the requests, so
 * that one that leaves early leaves nothing behind. Guarded by the lane's lock.
 */
final class LocalQueue {
  private @Nullable Request first;
  private @Nullable Request last;
  private int size;

  void add(Request request) {
    request.queued = true;
    request.previous = last;
    if (last == null) {
      first = request;
    } else {
      last.next = request;
    }
    last = request;
    size++;
  }

  /** Adds a request before all others. */
  void addFirst(Request request) {
    Request after = first;
    request.queued = true;
    request.next = after;
    if (after == null) {
      last = request;
    } else {
      after.previous = request;
    }
    first = request;
    size++;
  }

  void remove(Request request) {
    if (!request.queued) {
      return;
    }
    Request before = request.previous;
    Request after = request.next;
    if (before == null) {
      first = after;
    } else {
      before.next = after;
    }
    if (after == null) {
      last = before;
    } else {
      after.previous = before;
    }
    request.queued = false;
    request.previous = null;
    request.next = null;
    size--;
  }

  @Nullable
  Request first() {
    return first;
  }

  boolean isEmpty() {
    return first == null;
  }

  /** Returns the requests in order, for walks that change the queue. */
  List<Request> toList() {
    List<Request> all = new ArrayList<>(size);
    for (Request at = first; at != null; at = at.next) {
      all.add(at);
    }
    return all;
  }
}
