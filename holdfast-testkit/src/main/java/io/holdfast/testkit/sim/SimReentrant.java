// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.DistributedLock;
import io.holdfast.engine.SteppedCall;
import io.holdfast.engine.SteppedJavaLock;
import io.holdfast.testkit.history.Event;
import io.holdfast.testkit.history.Kind;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A reentrant lock: entered several times, tried by a stranger, left as often. */
final class SimReentrant {
  private final SimActor actor;
  private final SimWorld world;
  private final SimProcess process;
  private final SplittableRandom random;
  private final DistributedLock lock;
  private final SteppedJavaLock view;
  private final int times;
  private final long number;
  private @Nullable SteppedCall call;
  private @Nullable SimHold held;

  SimReentrant(SimActor actor, DistributedLock lock) {
    this.actor = actor;
    this.world = actor.world;
    this.process = actor.process;
    this.random = actor.random;
    this.lock = lock;
    this.times = 1 + random.nextInt(3);
    this.number = world.nextRequest();
    this.view = new SteppedJavaLock(lock, actor.thread);
  }

  void enter() {
    if (process.actors.size() > 1 && random.nextInt(3) == 0) {
      leaveAsStranger();
    }
    if (view.enterAgain()) {
      // only if another caller passes for this one
      count(Kind.ENTERED);
      actor.nextAfterThinking();
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
          Kind.FAILED, process.number, lock.name(), "", e.getClass().getSimpleName(), number, 0, 0);
      actor.nextAfterThinking();
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
    actor.write(fresh);
    process.after(actor.holdFor(), () -> leave(fresh));
  }

  private void leave(SimHold fresh) {
    if (process.isClosing()) {
      actor.done();
      return;
    }
    while (true) {
      world.operations++;
      boolean last = view.holdCount() == 1;
      if (last) {
        fresh.record(Kind.RELEASING, fresh.hold.isValid() ? actor.keepFor(lock) : 0);
        fresh.over();
      }
      Optional<CompletableFuture<Boolean>> answer = view.unlock();
      count(Kind.LEFT);
      if (answer.isPresent()) {
        actor.released(fresh, answer.get());
        return;
      }
    }
  }

  private void count(Kind kind) {
    world.record(kind, process.number, lock.name(), "", "", actor.index, view.holdCount(), 0);
  }
}
