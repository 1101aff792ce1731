// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Holder;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Everything this process does with one name: the state machine under one lock.
 *
 * <p>Requests that are not fair queue here, first come first served, and one claim, the <em>contender</em>, asks the
 * store for all of them. When it is granted, the first request gets the hold; when that is released, the next one may
 * get it without the store ({@link Holding}), in one step under the lock, with a fresh token. Tries and fair requests
 * have claims of their own.
 *
 * <p>No I/O and no user code runs under the lock: methods collect what is to be done in a {@link Later}. A lane that
 * nothing refers to any more is forgotten ({@link Lanes}).
 */
final class Lane {

  final Engine engine;
  final LockKey key;
  final ReentrantLock lock = new ReentrantLock();

  private final LocalQueue queue = new LocalQueue();
  final Holding holding;
  private @Nullable FairClaims fair;
  private @Nullable Claimant contender;

  /** The claim whose release was sent and not answered yet; nobody asks the store anew before that. */
  private @Nullable Claimant releasing;

  private @Nullable StayOut stayOut;

  /** Which thread owns the lock, for the views that are {@link java.util.concurrent.locks.Lock}s. */
  private @Nullable ThreadLock threadLock;

  Lane(Engine engine, LockKey key) {
    this.engine = engine;
    this.key = key;
    this.holding = new Holding(this);
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
    if (holding.take(request, later)) {
      return;
    }
    Claimant holder = holding.reservedFor();
    if (holder != null) {
      settle(request, new Outcome.Busy(holder.claim.holder()), later);
    } else {
      askFor(request, Mode.TRY, later);
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
      if (fair == null) {
        fair = new FairClaims(this);
      }
      fair.add(request, later);
    } else if (!holding.takeUnlessFirstIsDue(request, later)) {
      queue.add(request);
      contend(later);
    }
  }

  /** Starts a claim for one request. */
  void askFor(Request request, Mode mode, Later later) {
    ownClaim(request, mode).ask(later);
  }

  private Claimant ownClaim(Request request, Mode mode) {
    Claimant own = newClaimant(request, mode, request);
    request.claimant = own;
    return own;
  }

  private Claimant newClaimant(Request asking, Mode mode, @Nullable Request only) {
    return engine.newClaimant(this, asking, mode, only);
  }

  private IllegalStateException waitsForItselfException() {
    return new IllegalStateException(
        "this thread holds lock \"" + key + "\" itself and would wait for ever; release it first,"
            + " wait with a limit, use asJavaLock() to enter again, or detach() the hold if another"
            + " thread will release it");
  }

  /** A timed request has waited long enough. */
  void expire(Request request) {
    Later later = new Later();
    lock.lock();
    try {
      if (request.outcome() == null && !(request.queued && holding.take(request, later))) {
        expire(request, later);
      }
    } finally {
      lock.unlock();
    }
    later.run();
  }

  private void expire(Request request, Later later) {
    Claimant claimant = request.claimant;
    if (claimant == null && fair != null && fair.leaveBehind(request)) {
      request.overdue = true;
      askFor(request, Mode.TRY, later);
      return;
    }
    if (claimant == null && request.queued) {
      claimant = contender;
      if (claimant == null && holding.isEmpty()) {
        // staying out for others' sake, or a release is unanswered: only the store can say that somebody has the lock
        queue.remove(request);
        request.overdue = true;
        askFor(request, Mode.TRY, later);
        return;
      }
    }
    if (claimant == null && holding.isBeingRenewed()) {
      // nobody has it; the store has not said yet whether it is still this process's to pass on
      settle(
          request,
          new Outcome.Failed(Failures.unavailable(null, key.name(), engine.store.describe())),
          later);
    } else if (claimant == null) {
      settle(request, new Outcome.Busy(holderOfThisProcess()), later);
    } else if (claimant.awaitsFirstAnswer()) {
      // however short the wait: one attempt is made, and its answer decides
      request.overdue = true;
      return;
    } else if (claimant.lastAnswerWasBusy()) {
      settle(request, new Outcome.Busy(claimant.busyHolder()), later);
    } else {
      settle(request, new Outcome.Failed(claimant.failure()), later);
    }
    left(request, later);
  }

  private @Nullable Holder holderOfThisProcess() {
    Claimant current = holding.claimant();
    return current == null ? null : current.claim.holder();
  }

  /** A waiting thread woke up: if the lock is free to take, it is taken. */
  void awake(Request request) {
    if (request.outcome() != null) {
      return;
    }
    Later later = new Later();
    lock.lock();
    try {
      request.called = false;
      if (request.outcome() == null && request.queued) {
        holding.take(request, later);
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
    if (fair != null) {
      fair.remove(request);
    }
    if (outcome instanceof EngineHold) {
      later.add(request::announce);
    } else {
      engine.tell(later, () -> new LockEvent.Withdrawn(key.name()));
      // after the claim's end was sent, so that a caller who looks finds nothing left of it
      later.addLast(request::announce);
    }
  }

  /** A request left without a hold: a claim that works for nobody now ends. */
  private void left(Request request, Later later) {
    Claimant own = request.claimant;
    if (own != null) {
      if (own.phase() == Claimant.Phase.ASKING || own.phase() == Claimant.Phase.WAITING) {
        own.finish(Duration.ZERO, later);
      }
    } else if (queue.isEmpty()) {
      Claimant unneeded = contender;
      if (unneeded != null) {
        contender = null;
        unneeded.finish(Duration.ZERO, later);
      }
      holding.endIfUnclaimed(later);
    } else {
      holding.callNext(later);
    }
  }

  /** The store answered "busy": requests whose time had been up have their answer. */
  void settleOverdue(Claimant claimant, Later later) {
    for (Request request : servedBy(claimant)) {
      // one that left may have let the next one have the lock
      if (request.overdue && request.outcome() == null) {
        settle(request, new Outcome.Busy(claimant.busyHolder()), later);
        left(request, later);
      }
    }
  }

  /** The store fails: tells the requests for which waiting on makes no sense. */
  void failHopeless(Claimant claimant, Trouble trouble, Later later) {
    long now = engine.ticker.nanos();
    for (Request request : servedBy(claimant)) {
      boolean hopeless = trouble.isPermanent()
          || request.overdue
          || (request.onlyTry
              && now + trouble.pauseNanos() - claimant.triesSince(request)
                  >= engine.requestNanos(claimant.claim))
          || (request.untimedWait() && trouble.lastedNanos(now) >= engine.storeRetryNanos);
      if (hopeless && request.outcome() == null) {
        settle(request, new Outcome.Failed(claimant.failure()), later);
        left(request, later);
      }
    }
  }

  private Iterable<Request> servedBy(Claimant claimant) {
    Request only = claimant.only;
    if (only != null) {
      return only.outcome() == null ? java.util.List.of(only) : java.util.List.of();
    }
    return claimant == contender ? queue.toList() : java.util.List.of();
  }

  // claims

  /** Lets a claim ask the store for the queue, if there is a queue and nothing is in the way. */
  void contend(Later later) {
    contend(null, later);
  }

  private void contend(@Nullable Trouble before, Later later) {
    Request head = queue.first();
    if (head == null
        || contender != null
        || engine.isClosed()
        || !holding.isEmpty()
        || releasing != null
        || (stayOut != null && stayOut.holdsBack)) {
      return;
    }
    Claimant fresh = newClaimant(head, Mode.QUEUE, null);
    contender = fresh;
    begin(fresh, before, later);
  }

  private static void begin(Claimant fresh, @Nullable Trouble before, Later later) {
    if (before == null) {
      fresh.ask(later);
    } else {
      fresh.askAfter(before, later);
    }
  }

  /** Returns the request that a granted claim is for; null if there is none any more. */
  @Nullable
  Request takerOf(Claimant claimant) {
    if (claimant.only != null) {
      return claimant.only.outcome() == null ? claimant.only : null;
    }
    Request head = claimant == contender ? queue.first() : null;
    return head != null && suits(head.options, claimant.options) ? head : null;
  }

  /** Whether a claim made with some options serves a request with others. */
  static boolean suits(LockOptions wanted, LockOptions claimed) {
    return wanted.renew() == claimed.renew()
        && wanted.fair() == claimed.fair()
        && wanted.leaseFor().equals(claimed.leaseFor());
  }

  /** A claim was granted and will be used. */
  void began(Claimant claimant, Later later) {
    if (contender == claimant) {
      contender = null;
    }
    if (fair != null) {
      fair.changed(claimant, later);
    }
  }

  /** The release of a claim is being sent. */
  void releasing(Claimant claimant) {
    releasing = claimant;
  }

  /** Returns the first request that waits for the hold of this process. */
  @Nullable
  Request first() {
    return queue.first();
  }

  /**
   * A claim was granted too late or for nobody: whoever still wants the lock asks anew.
   *
   * @param lateness the trouble that its lateness is part of; null if it was not late
   */
  void claimFailed(Claimant claimant, @Nullable Trouble lateness, Later later) {
    Request only = claimant.only;
    boolean forQueue = contender == claimant;
    if (forQueue) {
      contender = null;
    }
    if (only != null && only.outcome() == null) {
      if (engine.isClosed()) {
        settle(only, new Outcome.Failed(Engine.closedException()), later);
      } else if (only.onlyTry || only.overdue) {
        settle(
            only,
            new Outcome.Failed(Failures.unavailable(
                lateness == null ? Failures.late() : lateness.cause(),
                key.name(),
                engine.store.describe())),
            later);
      } else {
        begin(ownClaim(only, claimant.mode), lateness, later);
      }
    }
    contend(forQueue ? lateness : null, later);
  }

  /** Nothing is left of a claim. */
  void over(Claimant claimant, Later later) {
    if (contender == claimant) {
      contender = null;
    }
    firstEndDone(claimant, later);
    if (fair != null) {
      fair.changed(claimant, later);
    }
    contend(later);
  }

  boolean hasFairWaiters() {
    return fair != null && !fair.isEmpty();
  }

  // holds

  /** Gives a request its hold. */
  void deliver(Request request, EngineHold hold, boolean handedOver, Later later) {
    settle(request, hold, later);
    if (!handedOver) {
      busyForOverdue(later);
    }
    Claimant unneeded = contender;
    if (queue.isEmpty() && unneeded != null) {
      // it waited for this request, which got the hold of another claim
      contender = null;
      unneeded.finish(Duration.ZERO, later);
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

  /** The first answer that overdue requests waited for was a grant, for another request of this process. */
  private void busyForOverdue(Later later) {
    for (Request other : queue.toList()) {
      if (other.overdue) {
        settle(other, new Outcome.Busy(holderOfThisProcess()), later);
      }
    }
  }

  /** The first answer to a release came, or will not come: the next claim may ask. */
  void firstEndDone(Claimant claimant, Later later) {
    if (releasing != claimant) {
      return;
    }
    releasing = null;
    if (engine.traits.queues()) {
      holding.yielded();
    } else if (holding.othersWait()) {
      giveOthersAChance();
    }
    contend(later);
  }

  /** On stores where waiters look from time to time: remembers the turn, and stays out once it is over. */
  private void giveOthersAChance() {
    long now = engine.ticker.nanos();
    boolean over = holding.isOthersTurn(now);
    StayOut before = stayOut;
    if (before != null && (before.holdsBack || !over)) {
      return;
    }
    if (before != null) {
      engine.timer.clear(before);
    }
    StayOut fresh = new StayOut(this, over);
    stayOut = fresh;
    engine.timer.set(fresh, now + engine.traits.pollAtMost().toNanos());
  }

  /** The others have had their chance to look. */
  void stayedOut(StayOut entry) {
    Later later = new Later();
    lock.lock();
    try {
      if (stayOut == entry) {
        stayOut = null;
        if (holding.isEmpty() && contender == null) {
          holding.yielded();
        }
        contend(later);
      }
    } finally {
      lock.unlock();
    }
    later.run();
  }

  // closing

  /** Makes the hold invalid and fails the requests; the client is closing. */
  void invalidate() {
    Later later = new Later();
    lock.lock();
    try {
      holding.invalidate(later);
      for (Request request : queue.toList()) {
        settle(request, new Outcome.Failed(Engine.closedException()), later);
      }
      if (fair != null) {
        fair.failAll(later);
      }
      if (threadLock != null) {
        engine.owned.untie(threadLock);
      }
    } finally {
      lock.unlock();
    }
    later.run();
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
