// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the renewals of a client's holds: what they must live through is told by these, and not by a clock. */
final class Renewals {
  /** A lease that a machine which stands still for some seconds does not end, and whose renewals come every four. */
  static final LockOptions OPTIONS =
      LockOptions.builder().leaseFor(Duration.ofSeconds(12)).build();

  private final AtomicInteger renewed = new AtomicInteger();

  Holdfast.Builder of(Holdfast.Builder client) {
    return client.listener(this::count);
  }

  private void count(LockEvent event) {
    if (event instanceof LockEvent.Renewed) {
      renewed.incrementAndGet();
    }
  }

  /** Waits for two from now on, the first of which may have been asked for before. */
  void awaitTwo(Hold hold) {
    int before = renewed.get();
    Await.until("it was renewed twice", () -> {
      assertThat(hold.isValid()).isTrue();
      return renewed.get() >= before + 2;
    });
  }
}
