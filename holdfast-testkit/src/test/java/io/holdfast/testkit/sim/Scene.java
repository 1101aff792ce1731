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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A world in which nothing happens but what a script says, at the times that it says, in milliseconds. */
final class Scene {
  static final String LOCK = "lock";

  final SimWorld world;
  private final ScriptedFates fates;
  private final List<Runnable> checks = new ArrayList<>();
  private final List<Ask> asks = new ArrayList<>();

  Scene(SimWorld world, ScriptedFates fates) {
    this.world = world;
    this.fates = fates;
  }

  SimProcess process(int number) {
    return world.processes.get(number);
  }

  // what the script says

  /** Something happens to the world. */
  void at(long millis, Runnable work) {
    world.after(millis * Setup.MILLI, work);
  }

  /** A process does something; later, if it does not run then. */
  void at(long millis, int process, Runnable work) {
    world.add(new SimTask(millis * Setup.MILLI, process(process), 0, work));
  }

  /** Begins to say what becomes of a message. */
  ScriptedFates.Rule on(int process, Fates.Message message) {
    return fates.on(process(process), message);
  }

  /** The process cannot reach the store, and does not notice. */
  void cut(long millis, int process, long untilMillis) {
    at(millis, () -> process(process).cut((untilMillis - millis) * Setup.MILLI, false));
  }

  /** The process does not run; its clocks do. */
  void pause(long millis, int process, long untilMillis) {
    at(millis, () -> process(process).pause((untilMillis - millis) * Setup.MILLI, false));
  }

  /** The machine sleeps, and its monotonic clock with it. */
  void suspend(long millis, int process, long untilMillis) {
    at(millis, () -> process(process).pause((untilMillis - millis) * Setup.MILLI, true));
  }

  void close(long millis, int process) {
    at(millis, process, process(process)::close);
  }

  void crash(long millis, int process) {
    at(millis, process(process)::crash);
  }

  /** From here on everything goes well, and all that waits is judged. */
  void quiet(long millis) {
    at(millis, () -> world.operations = world.setup.operations);
  }

  /** What must be true at some time, with the right protocol. */
  void check(long millis, Runnable check) {
    if (world.flaw == null) {
      at(millis, check);
    }
  }

  /** What must be true in the end, with the right protocol. */
  void inTheEnd(Runnable check) {
    checks.add(check);
  }

  void checkEnd() {
    checks.forEach(Runnable::run);
  }

  // what callers do

  /** Waits for the lock without a limit. */
  Ask acquire(long millis, int process) {
    return acquire(millis, process, options -> options);
  }

  Ask acquire(long millis, int process, UnaryOperator<LockOptions.Builder> more) {
    Ask ask = new Ask(process(process), more);
    ask.begin(millis, () -> {
      ask.asked(Event.WAITS, 0);
      CompletableFuture<Hold> future = ask.lock.acquireAsync();
      ask.source = future;
      ask.take(future);
    });
    return ask;
  }

  Ask acquireWithin(
      long waitMillis, long millis, int process, UnaryOperator<LockOptions.Builder> more) {
    Ask ask = new Ask(process(process), more);
    ask.begin(millis, () -> {
      ask.asked(Event.WAITS_UNTIL, world.now + waitMillis * Setup.MILLI);
      ask.take(ask.lock.acquireAsync(Duration.ofMillis(waitMillis)));
    });
    return ask;
  }

  Ask tryAcquire(long millis, int process) {
    return tryAcquire(millis, process, options -> options);
  }

  Ask tryAcquire(long millis, int process, UnaryOperator<LockOptions.Builder> more) {
    Ask ask = new Ask(process(process), more);
    ask.begin(millis, () -> {
      ask.asked(Event.TRIES, 0);
      ask.take(ask.lock.tryAcquireAsync().thenApply(hold -> hold.orElse(null)));
    });
    return ask;
  }

  /** Waits as a thread does. */
  Ask block(long millis, int process) {
    return block(millis, process, options -> options);
  }

  Ask block(long millis, int process, UnaryOperator<LockOptions.Builder> more) {
    Ask ask = new Ask(process(process), more);
    ask.begin(millis, () -> {
      ask.asked(Event.WAITS, 0);
      ask.block();
    });
    return ask;
  }

  void release(long millis, Ask ask) {
    at(millis, ask.process.number, ask::release);
  }

  /** Releases it a while after it has come. */
  void releaseWhenHeldFor(long millis, Ask ask) {
    ask.holdMillis = millis;
  }

  void cancel(long millis, Ask ask) {
    at(millis, ask.process.number, ask::cancel);
  }

  /** The owner of a future ends it, as {@code orTimeout} does. */
  void endFuture(long millis, Ask ask) {
    at(millis, ask.process.number, () -> {
      CompletableFuture<?> future = ask.source;
      if (future != null) {
        future.completeExceptionally(new CancellationException("the caller's own time-out"));
      }
    });
  }

  /** The holder forgets the hold, and its handle is collected as garbage. */
  void drop(long millis, Ask ask) {
    at(millis, ask.process.number, () -> {
      SimHold dropped = ask.held();
      dropped.record(Kind.DROPPED, 0);
      ask.process.holds.remove(dropped);
      world.keepAlive(dropped);
      SteppedCall.drop(dropped.hold);
    });
  }

  /** Cancels or interrupts whoever waits, now. */
  void cancelAll() {
    asks.stream().filter(ask -> ask.process.isRunning()).forEach(Ask::cancel);
  }

  // what came of it

  /** The events of one kind, in the store's order. */
  List<Event> events(Kind kind) {
    return world.history.stream().filter(event -> event.kind() == kind).toList();
  }

  /** What a request has come to, once it has. */
  final class Ask {
    final SimProcess process;
    final DistributedLock lock;
    private final LockOptions options;
    private final long number = world.nextRequest();
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
      this.process = process;
      LockOptions.Builder plain = LockOptions.builder()
          .leaseFor(Duration.ofNanos(world.setup.lease))
          .onLost(OnLost.call(loss -> {
            if (world.flaw != Flaw.LOSS_NOT_TOLD) {
              world.record(Kind.LOST, process.number, LOCK, "", "", loss.token(), 0, 0);
            }
          }));
      this.options = more.apply(plain).build();
      this.lock = process.holdfast.lock(LOCK, options);
    }

    private void begin(long millis, Runnable request) {
      asks.add(this);
      at(millis, process.number, () -> {
        if (!process.isClosing()) {
          request.run();
        }
      });
    }

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
      world.record(Kind.REQUESTED, process.number, LOCK, "", "", number, mode, until);
    }

    private void came(Kind kind, String by, long token) {
      came = kind;
      cameAt = world.now;
      world.record(kind, process.number, LOCK, "", by, number, token, 0);
    }

    private void take(CompletableFuture<? extends @Nullable Hold> future) {
      CompletableFuture<?> unused = future.whenComplete(this::answered);
    }

    private void block() {
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
    private void cancel() {
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

    private void release() {
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
            world.server.write(process, LOCK, token);
            return true;
          },
          done -> {},
          failure -> {});
    }
  }
}
