// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.LockOptions;
import io.holdfast.OnLost;
import io.holdfast.engine.EngineHold;
import io.holdfast.engine.SteppedCall;
import io.holdfast.testkit.history.Event;
import io.holdfast.testkit.history.Kind;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** One request of a scene: what its caller does with it, and what it has come to. */
final class Ask {
  private final SimWorld world;
  final SimProcess process;
  final DistributedLock lock;
  private final LockOptions options;
  private final long number;
  private @Nullable CompletableFuture<?> source;
  private @Nullable SteppedCall call;
  private @Nullable SimHold held;
  private @Nullable Kind came;

  private long cameAt;
  private long holdMillis;

  /** What the release said; null until then. */
  @Nullable
  Boolean released;

  /** Whether it is released with {@code releaseNow}. */
  boolean releasesNow;

  Ask(SimProcess process, UnaryOperator<LockOptions.Builder> more) {
    this.world = process.world;
    this.number = world.nextRequest();
    this.process = process;
    LockOptions.Builder plain = LockOptions.builder()
        .leaseFor(Duration.ofNanos(world.setup.lease))
        .onLost(OnLost.call(loss -> {
          if (world.flaw != Flaw.LOSS_NOT_TOLD) {
            world.record(Kind.LOST, process.number, Scene.LOCK, "", "", loss.token(), 0, 0);
          }
        }));
    this.options = more.apply(plain).build();
    this.lock = process.holdfast.lock(Scene.LOCK, options);
  }

  // what the caller does

  /** Waits on a future. */
  void acquire() {
    asked(Event.WAITS, 0);
    CompletableFuture<Hold> future = lock.acquireAsync();
    source = future;
    take(future);
  }

  void acquireWithin(long waitMillis) {
    asked(Event.WAITS_UNTIL, world.now + waitMillis * Setup.MILLI);
    take(lock.acquireAsync(Duration.ofMillis(waitMillis)));
  }

  void tryAcquire() {
    asked(Event.TRIES, 0);
    take(lock.tryAcquireAsync().thenApply(hold -> hold.orElse(null)));
  }

  /** It is released a while after it has come. */
  void releaseAfter(long millis) {
    holdMillis = millis;
  }

  /** The owner of the future ends it. */
  void endFuture() {
    CompletableFuture<?> future = source;
    if (future != null) {
      future.completeExceptionally(new CancellationException("the caller's own time-out"));
    }
  }

  /** The holder forgets the hold. */
  void drop() {
    SimHold dropped = held();
    dropped.record(Kind.DROPPED, 0);
    process.holds.remove(dropped);
    world.keepAlive(dropped);
    SteppedCall.drop(dropped.hold);
  }

  // what came of it

  /** ACQUIRED, BUSY, FAILED, WITHDRAWN; null while it waits. */
  @Nullable
  Kind came() {
    return came;
  }

  /** When it came to that. */
  long cameAtMillis() {
    return cameAt / Setup.MILLI;
  }

  SimHold held() {
    SimHold hold = held;
    if (hold == null) {
      throw new AssertionError("no hold: " + came);
    }
    return hold;
  }

  Hold hold() {
    return held().hold;
  }

  private void asked(long mode, long until) {
    world.record(Kind.REQUESTED, process.number, Scene.LOCK, "", "", number, mode, until);
  }

  private void came(Kind kind, String by, long token) {
    came = kind;
    cameAt = world.now;
    world.record(kind, process.number, Scene.LOCK, "", by, number, token, 0);
  }

  private void take(CompletableFuture<? extends @Nullable Hold> future) {
    CompletableFuture<?> unused = future.whenComplete(this::answered);
  }

  /** Waits as a thread does. */
  void block() {
    asked(Event.WAITS, 0);
    SteppedCall made =
        SteppedCall.acquire(lock, null, SimThread.numbered((int) number), this::wake);
    call = made;
    if (made.isDone()) {
      returned(made);
    }
  }

  private void returned(SteppedCall made) {
    try {
      answered(made.result().orElse(null), null);
    } catch (RuntimeException e) {
      answered(null, e);
    }
  }

  private void wake() {
    process.after(10_000, () -> {
      SteppedCall parked = call;
      if (came == null && parked != null && parked.run()) {
        returned(parked);
      }
    });
  }

  private void answered(@Nullable Hold hold, @Nullable Throwable failure) {
    Throwable cause = failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
    if (hold != null) {
      SimHold fresh = new SimHold(process, hold);
      held = fresh;
      process.holds.add(fresh);
      came(Kind.ACQUIRED, "", fresh.token);
      fresh.probe();
      if (holdMillis > 0) {
        process.after(holdMillis * Setup.MILLI, this::release);
      }
    } else if (cause == null || cause instanceof AcquireTimeoutException) {
      came(Kind.BUSY, "", 0);
    } else if (cause instanceof CancellationException) {
      came(Kind.WITHDRAWN, "", 0);
    } else {
      came(Kind.FAILED, cause.getClass().getSimpleName(), 0);
    }
  }

  /** Cancels the future, or interrupts the thread. */
  void cancel() {
    CompletableFuture<?> waiting = source;
    SteppedCall parked = call;
    if (waiting != null) {
      waiting.cancel(false);
    } else if (parked != null && parked.interrupt()) {
      came(Kind.WITHDRAWN, "", 0);
    } else if (parked != null && came == null) {
      returned(parked);
    }
  }

  void release() {
    SimHold hold = held;
    if (hold == null || process.isClosing()) {
      return; // it has not come; or it is released by the client's end
    }
    Duration keep = releasesNow ? Duration.ZERO : options.holdAtLeast();
    hold.record(Kind.RELEASING, hold.hold.isValid() ? keep.toNanos() : 0);
    hold.over();
    CompletableFuture<?> unused = ((EngineHold) hold.hold)
        .releaseAsync(releasesNow)
        .whenComplete((ours, failure) -> {
          released = ours;
          hold.record(Kind.RELEASED, ours == null ? -1 : ours ? 1 : 0);
        });
  }

  /** Looks whether the hold is valid, and writes, a moment later; the network does the rest. */
  void write() {
    if (held().probe()) {
      process.after(Setup.MILLI, () -> send(held().token));
    }
  }

  private void send(long token) {
    world.network.<Boolean>send(
        process,
        Fates.Message.WRITE,
        arrived -> {
          world.server.write(process, Scene.LOCK, token);
          return true;
        },
        done -> {},
        failure -> {});
  }
}
