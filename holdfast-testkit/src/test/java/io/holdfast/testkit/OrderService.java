// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.OnLost;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A program that uses locks, as a user may have it. */
final class OrderService {
  private final Holdfast holdfast;
  private final List<String> log = new ArrayList<>();
  private @Nullable Hold hold;

  OrderService(Holdfast holdfast) {
    this.holdfast = holdfast;
  }

  boolean tryBegin(String order) {
    LockOptions options =
        LockOptions.builder().onLost(OnLost.call(loss -> stop())).build();
    Optional<Hold> taken = holdfast.lock("order:" + order, options).tryAcquire();
    taken.ifPresent(fresh -> hold = fresh);
    return taken.isPresent();
  }

  void begin(String order) {
    if (!tryBegin(order)) {
      throw new IllegalStateException("somebody else has order " + order);
    }
  }

  void save() {
    Hold current = Objects.requireNonNull(hold, "begin first");
    current.ensureValid();
    log.add("saved with " + current.token());
    current.close();
  }

  private synchronized void stop() {
    log.add("stopped");
  }

  synchronized List<String> log() {
    return List.copyOf(log);
  }
}
