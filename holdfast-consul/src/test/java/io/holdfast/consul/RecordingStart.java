// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.Holder;
import io.holdfast.LossReason;
import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** Stands in for the engine: a store can be started with it, and it notes what it is told. */
final class RecordingStart implements StoreEvents {
  static final Holder HOLDER = new Holder("test", "here", 1, "main", "");

  final List<String> told = new CopyOnWriteArrayList<>();
  private long claims;

  StoreRuntime runtime() {
    return runtime(Ticker.system(), (task, delay) -> {
      var scheduled = CompletableFuture.runAsync(
          task, CompletableFuture.delayedExecutor(Math.max(0, delay), TimeUnit.NANOSECONDS));
      return () -> scheduled.cancel(false);
    });
  }

  StoreRuntime runtime(Ticker ticker, Scheduler scheduler) {
    return new StoreRuntime(
        "0123456789abcdef0123456789abcdef",
        ticker,
        scheduler,
        new Random(1),
        Duration.ofSeconds(20));
  }

  /** The next claim of this engine's client. */
  Claim claim(LockKey name, Duration lease) {
    ClaimId id = new ClaimId(runtime().client(), ++claims);
    return new Claim(id, name, 1, 1, lease, false, HOLDER);
  }

  @Override
  public void granted(ClaimId claim, Grant grant) {
    told.add("granted " + claim + " " + grant.revision());
  }

  @Override
  public void lookAgain(ClaimId claim) {
    told.add("lookAgain " + claim);
  }

  @Override
  public void lookAgainAll() {
    told.add("lookAgainAll");
  }

  @Override
  public void disturbed() {
    told.add("disturbed");
  }

  @Override
  public void restored() {
    told.add("restored");
  }

  @Override
  public void lost(ClaimId claim, LossReason reason) {
    told.add("lost " + claim + " " + reason);
  }
}
