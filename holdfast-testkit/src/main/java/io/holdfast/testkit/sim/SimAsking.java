// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.engine.SteppedCall;
import io.holdfast.testkit.history.Event;
import io.holdfast.testkit.history.Kind;
import java.time.Duration;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** One request, from its call to its end. */
final class SimAsking {
  private final SimActor actor;
  private final SimWorld world;
  private final SimProcess process;
  private final SplittableRandom random;
  private final DistributedLock lock;
  private final long mode;
  private final long wait;
  private final long number;
  private @Nullable SteppedCall call;
  private @Nullable CompletableFuture<?> source;
  private boolean over;

  SimAsking(SimActor actor, DistributedLock lock, long mode, long wait) {
    this.actor = actor;
    this.world = actor.world;
    this.process = actor.process;
    this.random = actor.random;
    this.number = world.nextRequest();
    this.lock = lock;
    this.mode = mode;
    this.wait = wait;
  }

  void begin(boolean blocking) {
    world.operations++;
    actor.asks(this);
    long until = mode == Event.WAITS_UNTIL ? world.now + wait : 0;
    world.record(Kind.REQUESTED, process.number, lock.name(), "", "", number, mode, until);
    if (blocking) {
      block();
    } else {
      future();
    }
  }

  private void block() {
    Duration most = mode == Event.WAITS ? null : Duration.ofNanos(wait);
    SteppedCall made = SteppedCall.acquire(lock, most, actor.thread, this::wake);
    call = made;
    if (made.isDone()) {
      returned(made);
    } else if (actor.happens(Fault.INTERRUPT)) {
      process.after(random.nextLong(world.setup.lease), this::interrupt);
    }
  }

  private void wake() {
    process.after(random.nextLong(200_000), () -> {
      SteppedCall parked = call;
      if (!over && parked != null && parked.run()) {
        returned(parked);
      }
    });
  }

  private void interrupt() {
    SteppedCall parked = call;
    if (over || parked == null) {
      return;
    }
    world.operations++;
    if (parked.interrupt()) {
      world.count(Fault.INTERRUPT);
      ended(Kind.WITHDRAWN, "");
    } else {
      returned(parked);
    }
  }

  void disturb() {
    CompletableFuture<?> waiting = source;
    if (!over && waiting != null) {
      waiting.cancel(false);
    } else {
      interrupt();
    }
  }

  private void returned(SteppedCall made) {
    try {
      Optional<Hold> hold = made.result();
      answered(hold.orElse(null), null);
    } catch (RuntimeException e) {
      answered(null, e);
    }
  }

  private void future() {
    if (mode == Event.WAITS) {
      CompletableFuture<Hold> waiting = lock.acquireAsync();
      source = waiting;
      take(waiting);
    } else if (mode == Event.TRIES) {
      take(lock.tryAcquireAsync().thenApply(hold -> hold.orElse(null)));
    } else if (random.nextBoolean()) {
      take(lock.acquireAsync(Duration.ofNanos(wait)));
    } else {
      CompletableFuture<Optional<Hold>> source = lock.tryAcquireAsync(Duration.ofNanos(wait));
      take(source.thenApply(hold -> hold.orElse(null)));
    }
  }

  private void take(CompletableFuture<? extends @Nullable Hold> future) {
    CompletableFuture<?> unused = future.whenComplete(this::answered);
    if (mode == Event.WAITS && actor.happens(Fault.CANCEL)) {
      process.after(random.nextLong(world.setup.lease), () -> {
        if (!over) {
          world.operations++;
          future.cancel(false);
        }
      });
    }
  }

  private void answered(@Nullable Hold hold, @Nullable Throwable failure) {
    Throwable cause = failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
    if (hold != null) {
      over = true;
      SimHold held = new SimHold(process, hold);
      process.holds.add(held);
      world.record(Kind.ACQUIRED, process.number, lock.name(), "", "", number, held.token, 0);
      actor.work(held, lock);
    } else if (cause == null || cause instanceof AcquireTimeoutException) {
      ended(Kind.BUSY, "");
    } else if (cause instanceof CancellationException) {
      world.count(Fault.CANCEL);
      ended(Kind.WITHDRAWN, "");
    } else {
      ended(Kind.FAILED, cause.getClass().getSimpleName());
    }
  }

  private void ended(Kind kind, String by) {
    over = true;
    world.record(kind, process.number, lock.name(), "", by, number, 0, 0);
    actor.nextAfterThinking();
  }
}
