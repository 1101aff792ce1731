// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Tells listeners, one event at a time, in order, on the callback executor. */
final class Listeners {
  private final List<LockListener> listeners;
  private final Callbacks callbacks;
  private final ReentrantLock lock = new ReentrantLock();
  private final Queue<LockEvent> events = new ArrayDeque<>();
  private boolean running;

  /** Delivers what was added, unless that is being done already. */
  final Runnable drain = this::startDraining;

  Listeners(List<LockListener> listeners, Callbacks callbacks) {
    this.listeners = List.copyOf(listeners);
    this.callbacks = callbacks;
  }

  boolean isEmpty() {
    return listeners.isEmpty();
  }

  /** Adds an event; the order of calls is the order of delivery. {@link #drain} is to follow, without locks. */
  void add(LockEvent event) {
    lock.lock();
    try {
      events.add(event);
    } finally {
      lock.unlock();
    }
  }

  private void startDraining() {
    lock.lock();
    try {
      if (running || events.isEmpty()) {
        return;
      }
      running = true;
    } finally {
      lock.unlock();
    }
    callbacks.run(this::deliverAll);
  }

  private void deliverAll() {
    for (LockEvent event = next(); event != null; event = next()) {
      for (LockListener listener : listeners) {
        LockEvent told = event;
        callbacks.guard(() -> listener.on(told));
      }
    }
  }

  private @Nullable LockEvent next() {
    lock.lock();
    try {
      LockEvent event = events.poll();
      running = event != null;
      return event;
    } finally {
      lock.unlock();
    }
  }
}
