// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.LockOptions;
import io.holdfast.OnLost;
import io.holdfast.engine.EngineHold;
import io.holdfast.engine.SteppedCall;
import io.holdfast.engine.SteppedJavaLock;
import io.holdfast.testkit.history.Event;
import io.holdfast.testkit.history.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * One caller in a process: asks for a lock in one of all the ways that there are, does its work, releases, and begins
 * again; sometimes gives up, is interrupted, drops what it has, or forgets the time.
 */
final class SimActor {
  private static final int MILLION = 1_000_000;

  private final SimWorld world;
  private final SimProcess process;
  private final SplittableRandom random;
  private final int index;
  private final SimThread thread;
  private final List<DistributedLock> locks = new ArrayList<>();

  private @Nullable Asking asking;
  private boolean lastRound;
  private boolean done;

  SimActor(SimProcess process, int index, SplittableRandom random) {
    this.world = process.world;
    this.process = process;
    this.index = index;
    this.random = random;
    boolean shared = world.flaw == Flaw.OWNER_IS_THE_PROCESS;
    this.thread = SimThread.numbered(process.number % 8 * 8 + (shared ? 0 : index));
    OnLost told = OnLost.call(this::lost);
    Setup setup = world.setup;
    LockOptions.Builder plain =
        LockOptions.builder().leaseFor(Duration.ofNanos(setup.lease)).onLost(told);
    for (int lock = 0; lock < setup.locks; lock++) {
      String name = "lock-" + lock;
      add(name, plain.build());
      add(name, plain.build().toBuilder().fair(true).build());
      add(name, plain.build().toBuilder().renew(false).build());
      add(name, atLeast(plain.build(), setup.lease / 2));
      add(name, atMost(plain.build(), setup.lease));
      add(name, plain.build());
      add(name, plain.build());
    }
  }

  private static LockOptions atLeast(LockOptions from, long nanos) {
    return from.toBuilder().holdAtLeast(Duration.ofNanos(nanos)).build();
  }

  private static LockOptions atMost(LockOptions from, long nanos) {
    return from.toBuilder().holdAtMost(Duration.ofNanos(nanos)).build();
  }

  private void add(String name, LockOptions options) {
    locks.add(process.holdfast.lock(name, options));
  }

  private void lost(HoldLostException loss) {
    if (world.flaw == Flaw.LOSS_NOT_TOLD && random.nextBoolean()) {
      return;
    }
    world.record(Kind.LOST, process.number, loss.lockName().orElse(""), "", "", loss.token(), 0, 0);
  }

  // the round

  void start() {
    process.after(random.nextLong(20 * Setup.MILLI), this::next);
  }

  boolean isDone() {
    return done;
  }

  /** Interrupts the caller if it waits, or cancels what it waits for. */
  void disturb() {
    Asking open = asking;
    if (open != null) {
      open.disturb();
    }
  }

  private void nextAfterThinking() {
    process.after(random.nextLong(world.setup.lease / 8), this::next);
  }

  private void next() {
    if (process.isClosing()) {
      done = true;
    } else if (!world.isQuiet()) {
      ask();
    } else if (!lastRound) {
      // everybody who waits now, without a fault, has to be granted
      lastRound = true;
      Asking last = new Asking(locks.get(random.nextInt(locks.size())), Event.WAITS, 0);
      last.begin(false);
    } else {
      done = true;
    }
  }

  private void ask() {
    int way = random.nextInt(100);
    DistributedLock lock = locks.get(random.nextInt(locks.size()));
    boolean blocking = world.setup.blocking && random.nextInt(100) < 40;
    long wait = random.nextLong(world.setup.lease * 2);
    if (way < 8 && world.setup.blocking) {
      new Reentrant(lock).enter();
    } else if (way < 60) {
      new Asking(lock, Event.WAITS, 0).begin(blocking);
    } else if (way < 80) {
      new Asking(lock, Event.WAITS_UNTIL, Math.max(1, wait)).begin(blocking);
    } else {
      new Asking(lock, Event.TRIES, 0).begin(blocking);
    }
  }

  private boolean happens(Fault fault) {
    return !world.isQuiet() && random.nextInt(MILLION) < world.setup.chance(fault);
  }

  /** One request, from its call to its end. */
  private final class Asking {
    private final DistributedLock lock;
    private final long mode;
    private final long wait;
    private final long number = world.nextRequest();
    private @Nullable SteppedCall call;
    private @Nullable CompletableFuture<?> source;
    private boolean over;

    Asking(DistributedLock lock, long mode, long wait) {
      this.lock = lock;
      this.mode = mode;
      this.wait = wait;
    }

    void begin(boolean blocking) {
      world.operations++;
      asking = this;
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
      SteppedCall made = SteppedCall.acquire(lock, most, thread, this::wake);
      call = made;
      if (made.isDone()) {
        returned(made);
      } else if (happens(Fault.INTERRUPT)) {
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
      if (mode == Event.WAITS && happens(Fault.CANCEL)) {
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
        work(held, lock);
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
      nextAfterThinking();
    }
  }

  // work

  private void work(SimHold held, DistributedLock lock) {
    write(held);
    long most = world.isQuiet() ? world.setup.lease / 10 : holdFor();
    process.after(most / 2, () -> write(held));
    process.after(most, () -> {
      write(held);
      release(held, lock);
    });
  }

  private long holdFor() {
    int kind = random.nextInt(20);
    long lease = world.setup.lease;
    if (kind < 15) {
      return random.nextLong(lease / 8);
    }
    return kind < 19 ? random.nextLong(lease) : random.nextLong(lease * 3);
  }

  /** Looks whether the hold is valid, and writes if so; the write travels like any message, and may come too late. */
  private void write(SimHold held) {
    if (held.probe()) {
      process.after(
          random.nextInt(100_000),
          () -> world.network.<Boolean>send(
              process,
              Fates.Message.WRITE,
              arrived -> {
                world.server.write(process, held.lock, held.token);
                return true;
              },
              done -> {},
              failure -> {}));
    }
  }

  private void release(SimHold held, DistributedLock lock) {
    if (process.isClosing()) {
      done = true;
      return;
    }
    world.operations++;
    if (happens(Fault.DROP)) {
      drop(held);
      return;
    }
    boolean now = random.nextInt(8) == 0;
    // a hold that was lost is not kept
    long keep = now || !held.hold.isValid() ? 0 : keepFor(lock);
    held.record(Kind.RELEASING, keep);
    held.over();
    released(held, ((EngineHold) held.hold).releaseAsync(now));
  }

  private long keepFor(DistributedLock lock) {
    int at = locks.indexOf(lock) % (locks.size() / world.setup.locks);
    return at == 3 ? world.setup.lease / 2 : 0;
  }

  private void released(SimHold held, CompletableFuture<Boolean> answer) {
    CompletableFuture<?> unused = answer.whenComplete((ours, failure) -> {
      held.record(Kind.RELEASED, ours == null ? -1 : ours ? 1 : 0);
      nextAfterThinking();
    });
  }

  private void drop(SimHold held) {
    world.count(Fault.DROP);
    held.record(Kind.DROPPED, 0);
    process.holds.remove(held);
    world.keepAlive(held);
    SteppedCall.drop(held.hold);
    nextAfterThinking();
  }

  /** A reentrant lock: entered several times, tried by a stranger, left as often. */
  private final class Reentrant {
    private final DistributedLock lock;
    private final SteppedJavaLock view;
    private final int times = 1 + random.nextInt(3);
    private final long number = world.nextRequest();
    private @Nullable SteppedCall call;
    private @Nullable SimHold held;

    Reentrant(DistributedLock lock) {
      this.lock = lock;
      this.view = new SteppedJavaLock(lock, thread);
    }

    void enter() {
      if (process.actors.size() > 1 && random.nextInt(3) == 0) {
        leaveAsStranger();
      }
      if (view.enterAgain()) {
        // only if another caller passes for this one
        count(Kind.ENTERED);
        nextAfterThinking();
        return;
      }
      world.operations++;
      world.record(Kind.REQUESTED, process.number, lock.name(), "", "", number, Event.WAITS, 0);
      SteppedCall made = view.lock(this::wake);
      call = made;
      if (made.isDone()) {
        returned(made);
      }
    }

    /** This thread has not entered: to leave is refused, and changes nothing. */
    private void leaveAsStranger() {
      try {
        Optional<CompletableFuture<Boolean>> left = view.unlock();
        count(Kind.LEFT);
        left.ifPresent(answer -> {
          CompletableFuture<?> unused = answer.whenComplete((ours, failure) -> {});
        });
      } catch (IllegalMonitorStateException e) {
        count(Kind.STRANGER);
      }
    }

    private void wake() {
      process.after(random.nextLong(200_000), () -> {
        SteppedCall parked = call;
        if (held == null && parked != null && parked.run()) {
          returned(parked);
        }
      });
    }

    private void returned(SteppedCall made) {
      call = null;
      try {
        SimHold fresh = new SimHold(process, made.result().orElseThrow());
        held = fresh;
        process.holds.add(fresh);
        world.record(Kind.ACQUIRED, process.number, lock.name(), "", "", number, fresh.token, 0);
        view.own(fresh.hold);
        count(Kind.ENTERED);
        again(fresh);
      } catch (RuntimeException e) {
        world.record(
            Kind.FAILED,
            process.number,
            lock.name(),
            "",
            e.getClass().getSimpleName(),
            number,
            0,
            0);
        nextAfterThinking();
      }
    }

    private void again(SimHold fresh) {
      for (int i = 1; i < times; i++) {
        world.operations++;
        if (!view.enterAgain()) {
          throw new IllegalStateException("an owner could not enter again");
        }
        count(Kind.ENTERED);
      }
      write(fresh);
      process.after(holdFor(), () -> leave(fresh));
    }

    private void leave(SimHold fresh) {
      if (process.isClosing()) {
        done = true;
        return;
      }
      while (true) {
        world.operations++;
        boolean last = view.holdCount() == 1;
        if (last) {
          fresh.record(Kind.RELEASING, fresh.hold.isValid() ? keepFor(lock) : 0);
          fresh.over();
        }
        Optional<CompletableFuture<Boolean>> answer = view.unlock();
        count(Kind.LEFT);
        if (answer.isPresent()) {
          released(fresh, answer.get());
          return;
        }
      }
    }

    private void count(Kind kind) {
      world.record(kind, process.number, lock.name(), "", "", index, view.holdCount(), 0);
    }
  }
}
