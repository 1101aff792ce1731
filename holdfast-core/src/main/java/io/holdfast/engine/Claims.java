// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.LockOptions;
import io.holdfast.spi.Mode;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who asks the store for the requests of one lane: the <em>contender</em> for all that queue here, and a claim of its own
 * for each try and each fair request. Guarded by the lane's lock; all methods are called under it.
 */
final class Claims {
  private final Lane lane;

  private @Nullable Claimant contender;
  private @Nullable FairClaims fair;

  Claims(Lane lane) {
    this.lane = lane;
  }

  // the contender

  @Nullable
  Claimant contender() {
    return contender;
  }

  /** Lets a claim ask the store for the queue, if there is a queue and nothing is in the way. */
  void contend(Later later) {
    contend(null, later);
  }

  private void contend(@Nullable Trouble before, Later later) {
    Request head = lane.queue.first();
    if (head == null || !isOpenToAll()) {
      return;
    }
    Claimant fresh = lane.engine.registry.newClaimant(lane, head, Mode.QUEUE, null);
    contender = fresh;
    begin(fresh, before, later);
  }

  /** Whether nobody has the lock here or asks for it, and nothing is in the way of asking. */
  private boolean isOpenToAll() {
    return contender == null
        && !lane.engine.isClosed()
        && lane.holding.isEmpty()
        && !lane.isHeldBack();
  }

  /**
   * Lets whoever comes first ask the store, and calls the first in the queue to do so; asks for that one if it has waited
   * long enough or has no thread that could come. Where the store answers only after a while, asking at once is quicker.
   */
  void callOrContend(Later later) {
    Request head = lane.queue.first();
    if (head != null
        && head.thread != null
        && lane.engine.answersAtOnce()
        && isOpenToAll()
        && !isDue(head)) {
      Relay.call(head, later);
    } else {
      contend(later);
    }
  }

  /** Whether the first in the queue was called to ask the store, has not come yet, and can still wait. */
  boolean mayOvertake() {
    Request head = lane.queue.first();
    return head != null && head.called && isOpenToAll() && !isDue(head);
  }

  private boolean isDue(Request head) {
    return lane.engine.ticker.nanos() - head.startNanos >= HandOver.STORE_PATIENCE_NANOS;
  }

  private static void begin(Claimant fresh, @Nullable Trouble before, Later later) {
    if (before == null) {
      fresh.ask(later);
    } else {
      fresh.waiting().askAfter(before, later);
    }
  }

  /** Nobody queues here any more: what asks for the queue leaves the store. */
  void endContender(Later later) {
    Claimant unneeded = contender;
    if (unneeded != null) {
      contender = null;
      unneeded.finish(Duration.ZERO, later);
    }
  }

  // claims of one request

  /** Starts a claim for one request. */
  void askFor(Request request, Mode mode, Later later) {
    ownClaim(request, mode).ask(later);
  }

  private Claimant ownClaim(Request request, Mode mode) {
    Claimant own = lane.engine.registry.newClaimant(lane, request, mode, request);
    request.claimant = own;
    return own;
  }

  /** Takes in a fair request. */
  void addFair(Request request, Later later) {
    FairClaims known = fair;
    if (known == null) {
      known = new FairClaims(lane);
      fair = known;
    }
    known.add(request, later);
  }

  /** A request is settled: it has no place among the fair ones any more. */
  void removeFair(Request request) {
    if (fair != null) {
      fair.remove(request);
    }
  }

  /** Takes out a fair request that has no claim in the store yet; says whether it was one. */
  boolean leaveBehind(Request request) {
    return fair != null && fair.leaveBehind(request);
  }

  boolean hasFairWaiters() {
    return fair != null && !fair.isEmpty();
  }

  /** The client is closing. */
  void failFair(Later later) {
    if (fair != null) {
      fair.failAll(later);
    }
  }

  // what became of a claim

  /** Returns the requests that a claim asks the store for, as they are now. */
  List<Request> servedBy(Claimant claimant) {
    Request only = claimant.only;
    if (only != null) {
      return only.outcome() == null ? List.of(only) : List.of();
    }
    return claimant == contender ? lane.queue.toList() : List.of();
  }

  /** Returns the request that a granted claim is for; null if there is none any more. */
  @Nullable
  Request takerOf(Claimant claimant) {
    if (claimant.only != null) {
      return claimant.only.outcome() == null ? claimant.only : null;
    }
    Request head = claimant == contender ? lane.queue.first() : null;
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
    leftContender(claimant);
    changed(claimant, later);
  }

  /**
   * A claim was granted too late or for nobody: whoever still wants the lock asks anew.
   *
   * @param lateness the trouble that its lateness is part of; null if it was not late
   */
  void failed(Claimant claimant, @Nullable Trouble lateness, Later later) {
    Request only = claimant.only;
    boolean forQueue = leftContender(claimant);
    if (only != null && only.outcome() == null) {
      if (lane.engine.isClosed()) {
        lane.settle(only, new Outcome.Failed(Engine.closedException()), later);
      } else if (only.onlyTry || only.overdue) {
        lane.settle(only, tooLate(lateness), later);
      } else {
        begin(ownClaim(only, claimant.mode), lateness, later);
        // what it keeps while it ends would keep the hold's handle from being noticed as dropped
        claimant.only = null;
      }
    }
    contend(forQueue ? lateness : null, later);
  }

  private Outcome tooLate(@Nullable Trouble lateness) {
    Throwable cause = lateness == null ? Failures.late() : lateness.cause();
    return new Outcome.Failed(
        Failures.unavailable(cause, lane.key.name(), lane.engine.store.describe()));
  }

  /** Nothing is left of a claim. */
  void over(Claimant claimant, Later later) {
    leftContender(claimant);
    lane.restraint().firstEndDone(claimant, later);
    changed(claimant, later);
    callOrContend(later);
  }

  private boolean leftContender(Claimant claimant) {
    boolean was = contender == claimant;
    if (was) {
      contender = null;
    }
    return was;
  }

  private void changed(Claimant claimant, Later later) {
    if (fair != null) {
      fair.changed(claimant, later);
    }
  }
}
