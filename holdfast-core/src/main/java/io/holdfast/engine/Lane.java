// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.LockEvent;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Everything this process does with one name: the state machine under one lock.
 *
 * <p>Requests that are not fair queue here, first come first served, and one claim, the <em>contender</em>, asks the
 * store for all of them. When it is granted, the first request gets the hold; when that is released, the next one may
 * get it without the store ({@link Holding}), in one step under the lock, with a fresh token. Tries and fair requests
 * have claims of their own ({@link Claims}).
 *
 * <p>No I/O and no user code runs under the lock: methods collect what is to be done in a {@link Later}. A lane that
 * nothing refers to any more is forgotten ({@link Lanes}).
 */
final class Lane {

  final Engine engine;
  final LockKey key;
  final LaneLock lock = new LaneLock();

  final LocalQueue queue = new LocalQueue();
  final Claims claims;
  final Holding holding;

  private @Nullable Restraint restraint;

  /** Which thread owns the lock, for the views that are {@link java.util.concurrent.locks.Lock}s. */
  private @Nullable ThreadLock threadLock;

  Lane(Engine engine, LockKey key) {
    this.engine = engine;
    this.key = key;
    this.claims = new Claims(this);
    this.holding = new Holding(this);
  }

  /** What keeps this process from asking; made when there is something. */
  Restraint restraint() {
    Restraint made = restraint;
    if (made == null) {
      made = new Restraint(this);
      restraint = made;
    }
    return made;
  }

  boolean isHeldBack() {
    return restraint != null && restraint.holdsBack();
  }

  /** How requests end that are not granted. Made when it is needed, since it has no state. */
  Expiry expiry() {
    return new Expiry(this);
  }

  /** Takes a step of the state machine, then does what is to be done without the lock. */
  void step(Consumer<Later> step) {
    Later later = new Later();
    lock.lock();
    try {
      step.accept(later);
    } finally {
      lock.unlock();
    }
    later.run();
  }

  // requests

  /** Takes a request in. */
  void submit(Request request) {
    Later later = new Later();
    lock.lock();
    try {
      request.lane = this;
      engine.tell(later, () -> new LockEvent.Requested(key.name()));
      if (engine.isClosed()) {
        settle(request, new Outcome.Failed(Engine.closedException()), later);
      } else if (request.onlyTry) {
        submitTry(request, later);
      } else {
        submitWait(request, later);
      }
    } finally {
      lock.unlock();
    }
    later.run();
  }

  private void submitTry(Request request, Later later) {
    if (holding.relay().take(request, later)) {
      return;
    }
    Claimant holder = holding.reservedFor();
    if (holder != null) {
      settle(request, new Outcome.Busy(holder.claim.holder()), later);
    } else {
      claims.askFor(request, Mode.TRY, later);
    }
  }

  private void submitWait(Request request, Later later) {
    if (request.untimedWait() && holding.waitsForItself(request)) {
      settle(request, new Outcome.Failed(waitsForItselfException()), later);
      return;
    }
    if (request.timed) {
      engine.timer.set(request, request.deadlineNanos);
    }
    if (request.options.fair()) {
      claims.addFair(request, later);
    } else if (!holding.relay().takeUnlessFirstIsDue(request, later)) {
      if (claims.mayOvertake()) {
        queue.addFirst(request);
      } else {
        queue.add(request);
      }
      claims.contend(later);
    }
  }

  private IllegalStateException waitsForItselfException() {
    return new IllegalStateException("this thread holds lock \"" + key
        + "\" itself and would wait without end; release it first,"
        + " wait with a limit, use asJavaLock() to enter again, or detach() the hold if another"
        + " thread will release it");
  }

  /** A timed request has waited long enough. */
  void expire(Request request) {
    step(later -> {
      if (request.outcome() == null && !(request.queued && holding.relay().take(request, later))) {
        expiry().expire(request, later);
      }
    });
  }

  /**
   * Takes out a request that nobody asks the store for, nor holds the lock for: staying out for others' sake, while a
   * release is unanswered, or called to ask and not come yet, only the store can say that somebody has the lock. Says
   * whether it was one.
   */
  boolean leaveUnserved(Request request) {
    boolean unserved = request.queued && isIdle();
    if (unserved) {
      queue.remove(request);
    }
    return unserved;
  }

  /** Whether this process neither has the lock nor asks for it on behalf of its queue. */
  boolean isIdle() {
    return claims.contender() == null && holding.isEmpty();
  }

  /** A waiting thread woke up: if the lock is free to take, it is taken; if nobody asks the store for it, it is asked. */
  void awake(Request request) {
    if (request.outcome() != null) {
      return;
    }
    Later later = new Later();
    lock.lock();
    try {
      request.called = false;
      if (request.outcome() == null && request.queued && !holding.relay().take(request, later)) {
        claims.contend(later);
      }
    } finally {
      lock.unlock();
    }
    later.run();
  }

  /** Takes a request back, unless it was settled before; says whether it could. */
  boolean withdraw(Request request, RuntimeException why) {
    Later later = new Later();
    lock.lock();
    try {
      if (request.outcome() != null) {
        return false;
      }
      settle(request, new Outcome.Failed(why), later);
      left(request, later);
    } finally {
      lock.unlock();
    }
    later.run();
    return true;
  }

  /** Settles a request, with whatever outcome. */
  void settle(Request request, Outcome outcome, Later later) {
    request.settle(outcome);
    if (request.timed) {
      engine.timer.clear(request);
    }
    queue.remove(request);
    claims.removeFair(request);
    if (outcome instanceof EngineHold) {
      later.add(request::announce);
    } else {
      engine.tell(later, () -> new LockEvent.Withdrawn(key.name()));
      // after the claim's end was sent, so that a caller who looks finds nothing left of it
      later.addLast(request::announce);
    }
  }

  /** A request left without a hold: a claim that works for nobody now ends. */
  void left(Request request, Later later) {
    Claimant own = request.claimant;
    if (own != null) {
      if (own.isOpen()) {
        own.finish(Duration.ZERO, later);
      }
    } else if (queue.isEmpty()) {
      claims.endContender(later);
      holding.relay().endIfUnclaimed(later);
    } else {
      holding.relay().callNext(later);
      // it may have been called to ask for all of them
      claims.contend(later);
    }
  }

  /** Returns the requests that wait without claims of their own, as they are now. */
  List<Request> queued() {
    return queue.toList();
  }

  /** Returns the first request that waits for the hold of this process. */
  @Nullable
  Request first() {
    return queue.first();
  }

  // holds

  /** Gives a request its hold. */
  void deliver(Request request, EngineHold hold, boolean handedOver, Later later) {
    settle(request, hold, later);
    if (!handedOver) {
      expiry().busyForOverdue(later);
    }
    if (queue.isEmpty()) {
      // if one is left it waited for this request, which got the hold of another claim
      claims.endContender(later);
    }
    if (engine.hasListeners()) {
      long token = hold.token();
      Duration waited = Duration.ofNanos(engine.ticker.nanos() - request.startNanos);
      engine.tell(
          later,
          () -> handedOver
              ? new LockEvent.HandedOver(key.name(), token, waited)
              : new LockEvent.Acquired(key.name(), token, waited));
    }
  }

  // closing

  /** Makes the hold invalid and fails the requests; the client is closing. */
  void invalidate() {
    step(later -> {
      holding.invalidate(later);
      for (Request request : queue.toList()) {
        settle(request, new Outcome.Failed(Engine.closedException()), later);
      }
      claims.failFair(later);
      if (threadLock != null) {
        engine.owned.untie(threadLock);
      }
    });
  }

  /** Whether this process has a hold of the name. */
  boolean isHeld() {
    lock.lock();
    try {
      return holding.isHeld();
    } finally {
      lock.unlock();
    }
  }

  /** Returns who owns the lock by thread. */
  ThreadLock threadLock() {
    lock.lock();
    try {
      ThreadLock known = threadLock;
      if (known == null) {
        known = new ThreadLock(this);
        threadLock = known;
      }
      return known;
    } finally {
      lock.unlock();
    }
  }
}
