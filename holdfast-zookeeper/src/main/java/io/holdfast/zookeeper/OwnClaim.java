// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.Scheduler.Scheduled;
import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * What this side knows of one claim. Its attempts and ends run one after the other, in {@link #inTurn turns}: so an end
 * sees what came of the attempts before it, and an attempt that is asked twice makes one node. Fields are guarded by
 * this object's monitor, which is never held while anything waits.
 */
final class OwnClaim {
  final Claim claim;
  final ZooKeeperSession session;

  private CompletableFuture<?> last = CompletableFuture.completedFuture(null);
  private int turns;

  private @Nullable Node node;
  private @Nullable Predecessor watched;
  private @Nullable Scheduled looking;
  private @Nullable Moment lostAt;
  private @Nullable Moment lostSent;
  private boolean granted;
  private boolean expiring;
  private boolean ended;
  private boolean othersWait;
  private Moment madeAt;
  private Moment heardAt;
  private Moment refreshedAt;
  private long staysNanos = ZooKeeperGuarantees.WAITER_LEASE.toNanos();

  /**
   * The claim's node.
   *
   * @param path its path
   * @param session the session that owns it
   * @param stat as it was made
   */
  record Node(String path, long session, Stat stat) {
    /** The number of the grant: greater than that of every node that was made before. */
    long revision() {
      return stat.getCzxid();
    }
  }

  OwnClaim(Claim claim, ZooKeeperSession session, Moment now) {
    this.claim = claim;
    this.session = session;
    this.madeAt = now;
    this.heardAt = now;
    this.refreshedAt = now;
  }

  /** A turn is coming: the claim is not to be forgotten before it {@link #leave leaves}. */
  synchronized void enter() {
    turns++;
  }

  /**
   * A turn is over; returns whether nothing is known that could be forgotten: no node, none that may come, and nobody
   * at it.
   */
  synchronized boolean leave() {
    turns--;
    return isNothing();
  }

  synchronized boolean isNothing() {
    return turns == 0 && node == null && lostAt == null;
  }

  synchronized boolean isIdle() {
    return turns == 0;
  }

  /** Runs it when all turns before it are over. */
  <T> CompletableFuture<T> inTurn(Supplier<CompletionStage<T>> turn) {
    CompletableFuture<T> result = new CompletableFuture<>();
    CompletionStage<?> before;
    synchronized (this) {
      before = last;
      last = result;
    }
    before.whenComplete((nothing, failed) -> run(turn, result));
    return result;
  }

  private static <T> void run(Supplier<CompletionStage<T>> turn, CompletableFuture<T> result) {
    CompletionStage<T> stage;
    try {
      stage = turn.get();
    } catch (RuntimeException | Error e) {
      stage = CompletableFuture.failedFuture(e);
    }
    stage.whenComplete((value, failure) -> {
      if (failure == null) {
        result.complete(value);
      } else {
        result.completeExceptionally(failure);
      }
    });
  }

  synchronized @Nullable Node node() {
    return node;
  }

  /** The server made the node, or it was found again; its making was asked for then, or later. */
  synchronized void made(Node fresh, Moment sent) {
    if (node == null || !node.path().equals(fresh.path())) {
      gone();
      madeAt = sent;
    }
    node = fresh;
  }

  /** The node is gone, and with it what was granted. */
  synchronized void gone() {
    node = null;
    granted = false;
    expiring = false;
    hearNothing();
  }

  private void hearNothing() {
    if (watched != null) {
      watched.leave();
    }
    watched = null;
    if (looking != null) {
      looking.cancel();
    }
    looking = null;
  }

  /** The answer to the making of a node was lost: there may be one, or one may come. */
  synchronized void lost(Moment now, Moment sent) {
    lostAt = now;
    if (lostSent == null) {
      lostSent = sent;
    }
  }

  /** Returns the moment before which no node of a lost answer was made. */
  synchronized Moment lostSince(Moment otherwise) {
    return lostSent == null ? otherwise : lostSent;
  }

  synchronized boolean mayHaveMore() {
    return lostAt != null;
  }

  /** Returns whether a node of a lost answer can still come. */
  synchronized boolean mayStillCome(Ticker ticker, long sessionNanos) {
    return lostAt != null && ticker.elapsedNanos(lostAt) < sessionNanos;
  }

  synchronized void foundAll() {
    lostAt = null;
    lostSent = null;
  }

  /**
   * It has the lock, and the engine was or will be told so for a time; unless its node is being taken away, which is
   * returned as false.
   */
  synchronized boolean granted(Moment now, long forNanos) {
    if (!stays(now, forNanos)) {
      return false;
    }
    if (!granted) {
      heardAt = now;
    }
    granted = true;
    hearNothing();
    return true;
  }

  /** As {@link #granted}, if it still waits for that. */
  synchronized boolean grantedBy(Predecessor which, Moment now, long forNanos) {
    return isWatching(which) && granted(now, forNanos);
  }

  /** It has not got the lock after all. */
  synchronized void notGranted() {
    granted = false;
  }

  synchronized boolean isGranted() {
    return granted;
  }

  /** How long after the node was made the grant was heard of. */
  synchronized long waitedMillis() {
    return Math.max(0, (heardAt.nanos() - madeAt.nanos()) / 1_000_000L);
  }

  /**
   * Unless the engine says more, the node is taken away after that time: what its lease says, the session does not
   * know. False if that has begun.
   */
  synchronized boolean stays(Moment now, long forNanos) {
    if (expiring) {
      return false;
    }
    refreshedAt = now;
    staysNanos = forNanos;
    return true;
  }

  synchronized boolean isOverdue(Ticker ticker) {
    return node != null && turns == 0 && ticker.elapsedNanos(refreshedAt) > staysNanos;
  }

  /**
   * Begins to take an overdue node away, in a turn: from now on nothing that is heard of it counts.
   *
   * @return the node; null if it is not overdue, or no longer
   */
  synchronized @Nullable Node expires(Ticker ticker) {
    if (node == null || ticker.elapsedNanos(refreshedAt) <= staysNanos) {
      return null;
    }
    expiring = true;
    hearNothing();
    return node;
  }

  /** Whether a delete of its node may be under way that nobody has asked for. */
  synchronized boolean isExpiring() {
    return expiring;
  }

  synchronized void othersWait(boolean others) {
    othersWait = others;
  }

  synchronized boolean othersWait() {
    return othersWait;
  }

  /** The engine wants no more of it. */
  synchronized void end() {
    ended = true;
    hearNothing();
  }

  synchronized boolean isEnded() {
    return ended;
  }

  /** Returns the watch on the node ahead: the one that is there already if it is the same node, and it has heard all. */
  synchronized Predecessor watch(Predecessor fresh) {
    Predecessor there = watched;
    if (there != null && there.serves(fresh)) {
      return there;
    }
    hearNothing();
    watched = fresh;
    return fresh;
  }

  /** It is first in the queue of a kept lock, and looks again later. */
  synchronized void looks(Scheduled later) {
    hearNothing();
    if (ended || granted || node == null) {
      later.cancel();
    } else {
      looking = later;
    }
  }

  /** Whether it will look again at a kept lock. */
  synchronized boolean isLooking() {
    return looking != null;
  }

  synchronized boolean isWatching(Predecessor which) {
    return watched == which && !ended && !granted && !expiring;
  }
}
