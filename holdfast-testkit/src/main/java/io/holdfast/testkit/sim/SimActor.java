// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.DistributedLock;
import io.holdfast.HoldLostException;
import io.holdfast.LockOptions;
import io.holdfast.OnLost;
import io.holdfast.engine.EngineHold;
import io.holdfast.engine.SteppedCall;
import io.holdfast.testkit.history.Event;
import io.holdfast.testkit.history.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One caller in a process: asks for a lock in one of all the ways that there are, does its work, releases, and begins
 * again; sometimes gives up, is interrupted, drops what it has, or forgets the time.
 */
final class SimActor {
  private static final int MILLION = 1_000_000;

  final SimWorld world;
  final SimProcess process;
  final SplittableRandom random;
  final int index;
  final SimThread thread;
  private final List<DistributedLock> locks = new ArrayList<>();

  private @Nullable SimAsking asking;
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

  /** It does not begin again. */
  void done() {
    done = true;
  }

  /** The request that it has begun. */
  void asks(SimAsking begun) {
    asking = begun;
  }

  /** Interrupts the caller if it waits, or cancels what it waits for. */
  void disturb() {
    SimAsking open = asking;
    if (open != null) {
      open.disturb();
    }
  }

  void nextAfterThinking() {
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
      SimAsking last = new SimAsking(this, locks.get(random.nextInt(locks.size())), Event.WAITS, 0);
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
      new SimReentrant(this, lock).enter();
    } else if (way < 60) {
      new SimAsking(this, lock, Event.WAITS, 0).begin(blocking);
    } else if (way < 80) {
      new SimAsking(this, lock, Event.WAITS_UNTIL, Math.max(1, wait)).begin(blocking);
    } else {
      new SimAsking(this, lock, Event.TRIES, 0).begin(blocking);
    }
  }

  boolean happens(Fault fault) {
    return !world.isQuiet() && random.nextInt(MILLION) < world.setup.chance(fault);
  }

  // work

  void work(SimHold held, DistributedLock lock) {
    write(held);
    long most = world.isQuiet() ? world.setup.lease / 10 : holdFor();
    process.after(most / 2, () -> write(held));
    process.after(most, () -> {
      write(held);
      release(held, lock);
    });
  }

  long holdFor() {
    int kind = random.nextInt(20);
    long lease = world.setup.lease;
    if (kind < 15) {
      return random.nextLong(lease / 8);
    }
    return kind < 19 ? random.nextLong(lease) : random.nextLong(lease * 3);
  }

  /** Looks whether the hold is valid, and writes if so; the write travels like any message, and may come too late. */
  void write(SimHold held) {
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

  long keepFor(DistributedLock lock) {
    int at = locks.indexOf(lock) % (locks.size() / world.setup.locks);
    return at == 3 ? world.setup.lease / 2 : 0;
  }

  void released(SimHold held, CompletableFuture<Boolean> answer) {
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
}
