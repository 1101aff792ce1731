// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import io.holdfast.testkit.Await;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A listener that keeps what it was told, in order. */
final class Events implements LockListener {
  private final List<LockEvent> seen = new CopyOnWriteArrayList<>();

  @Override
  public void on(LockEvent event) {
    seen.add(event);
  }

  List<LockEvent> all() {
    return List.copyOf(seen);
  }

  <E extends LockEvent> List<E> of(Class<E> type) {
    return seen.stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** Waits until at least so many events of a type have come. */
  <E extends LockEvent> List<E> await(Class<E> type, int atLeast) {
    Await.until(
        atLeast + " x " + type.getSimpleName() + " was told", () -> of(type).size() >= atLeast);
    return of(type);
  }
}
