// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.Scheduler.Scheduled;
import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import java.time.Duration;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * What this side knows of one claim. Its attempts and ends run one after the other, in {@link #inTurn turns}: so an end
 * sees what came of the attempts before it, and an attempt that is asked twice makes one node. Fields are guarded by
 * this object's monitor, which is never held while anything waits.
 */
final class OwnClaim extends Turns {
  final Claim claim;
  final ZooKeeperSession session;

  private @Nullable Node node;
  private @Nullable Predecessor watched;
  private @Nullable Scheduled looking;
  private @Nullable Moment lostAt;
  private @Nullable Moment lostSent;
  private boolean granted;
  private boolean expiring;
  private boolean ended;
  private Duration keepFor = Duration.ZERO;
  private boolean othersWait;
  private long madeNanos;
  private long heardNanos;

  /** When the engine last said that the claim stays, as two numbers: a renewal then makes no object. */
  private long refreshedNanos;

  private long refreshedWallMillis;

  /** The folder's last change of its children when the node's place was seen; 0 if it was not. */
  private long pzxid;

  /** How many such changes there had been. */
  private int cversion;

  private long staysNanos = ZooKeeperGuarantees.WAITER_LEASE.toNanos();

  /**
   * The claim's node.
   *
   * @param path its path
   * @param session the session that owns it
   * @param revision the number of the grant: greater than that of every node that was made before
   * @param ctime when it was made, by the leader's clock
   */
  record Node(String path, long session, long revision, long ctime) {
    Node(String path, long session, Stat made) {
      this(path, session, made.getCzxid(), made.getCtime());
    }
  }

  OwnClaim(Claim claim, ZooKeeperSession session, Moment now) {
    this.claim = claim;
    this.session = session;
    this.madeNanos = now.nanos();
    this.heardNanos = now.nanos();
    refreshed(now);
  }

  /** Whether no request is under way, no node is known, and there is no lost answer, unless the engine has ended the claim. */
  synchronized boolean isIdleWithoutNode() {
    return isIdle() && node == null && (lostAt == null || ended);
  }

  /**
   * Leaves the session and returns null if nothing is to be remembered of the claim; else returns this. Where the engine
   * gave its end up before that was final, a node of a lost answer may come until its session's time is over.
   */
  @Nullable
  OwnClaim leaveIfNothing(Ticker ticker) {
    if (!isIdleWithoutNode() || mayStillCome(ticker)) {
      return this;
    }
    session.leave();
    return null;
  }

  synchronized @Nullable Node node() {
    return node;
  }

  /** The server made the node, or it was found again; its making was asked for then, or later. */
  synchronized void made(Node fresh, Moment sent) {
    if (node == null || !node.path().equals(fresh.path())) {
      gone();
      madeNanos = sent.nanos();
    }
    node = fresh;
  }

  /** The node is gone, and with it what was granted. */
  synchronized void gone() {
    node = null;
    notGranted();
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

  /**
   * Returns whether a node of a lost answer can still come: for as long as a session lives, a request that was sent once may
   * be applied. If none can, the lost answer is forgotten.
   */
  boolean mayStillCome(Ticker ticker) {
    Link link = session.link();
    long sessionNanos =
        link == null ? Long.MAX_VALUE : link.handle().getSessionTimeout() * 1_000_000L;
    return mayStillCome(ticker, sessionNanos);
  }

  private synchronized boolean mayStillCome(Ticker ticker, long sessionNanos) {
    if (lostAt != null && ticker.elapsedNanos(lostAt) < sessionNanos) {
      return true;
    }
    lostAt = null;
    lostSent = null;
    return false;
  }

  /**
   * It has the lock, and the engine was or will be told so for a time; unless its node is being taken away, which is
   * returned as false.
   */
  synchronized boolean granted(Moment now, long forNanos) {
    if (node == null || !stays(now, forNanos)) {
      return false;
    }
    if (!granted) {
      heardNanos = now.nanos();
    }
    granted = true;
    hearNothing();
    return true;
  }

  /** As {@link #granted}, if it still waits for that. */
  synchronized boolean grantedBy(Predecessor which, Moment now, long forNanos) {
    if (!isWatching(which) || !granted(now, forNanos)) {
      return false;
    }
    unseen();
    return true;
  }

  /** It has not got the lock after all. */
  synchronized void notGranted() {
    granted = false;
    unseen();
  }

  synchronized boolean isGranted() {
    return granted;
  }

  /** How long after the node was made the grant was heard of. */
  synchronized long waitedMillis() {
    return Math.max(0, (heardNanos - madeNanos) / 1_000_000L);
  }

  /**
   * Unless the engine says more, the node is taken away after that time: what its lease says, the session does not
   * know. False if that has begun.
   */
  synchronized boolean stays(Moment now, long forNanos) {
    if (expiring) {
      return false;
    }
    refreshed(now);
    staysNanos = forNanos;
    return true;
  }

  private void refreshed(Moment now) {
    refreshedNanos = now.nanos();
    refreshedWallMillis = now.wallMillis();
  }

  private Moment refreshedAt() {
    return new Moment(refreshedNanos, refreshedWallMillis);
  }

  /** Returns for how long a node of it still stays, if there is one or may soon be; less than nothing if it is overdue. */
  synchronized long staysNanos(Ticker ticker) {
    boolean isNone = node == null && isIdle();
    return isNone ? Long.MAX_VALUE : staysNanos - ticker.elapsedNanos(refreshedAt());
  }

  /**
   * Begins to take an overdue node away, in a turn: from now on nothing that is heard of it counts.
   *
   * @return the node; null if it is not overdue, or no longer
   */
  synchronized @Nullable Node expires(Ticker ticker) {
    if (node == null || staysNanos(ticker) >= 0) {
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
    unseen();
  }

  /**
   * When the folder was as this says, the node was in it, and had the lock, or waited behind the node that is watched. What
   * is older than the node is of another.
   */
  synchronized void seen(Node which, Stat folder) {
    boolean isOf = which.equals(node) && which.revision() <= folder.getPzxid();
    pzxid = isOf ? folder.getPzxid() : 0;
    cversion = folder.getCversion();
  }

  /** What its folder was like is not known any more. */
  synchronized void unseen() {
    pzxid = 0;
  }

  /** Whether it is known what its folder was like. */
  synchronized boolean wasSeen() {
    return pzxid != 0;
  }

  /** Whether the folder is as it was when the node's place was seen: so the node still has the lock, or still waits. */
  synchronized boolean isAsSeen(Node which, Stat folder) {
    return pzxid != 0
        && (granted || watched != null)
        && which.equals(node)
        && pzxid == folder.getPzxid()
        && cversion == folder.getCversion();
  }

  synchronized boolean othersWait() {
    return othersWait;
  }

  /** The engine wants no more of it, but its lock to be kept until so long after its grant. */
  synchronized void end(Duration keep) {
    ended = true;
    keepFor = keep;
    hearNothing();
  }

  /** Until how long after its grant its latest end was to keep the lock. */
  synchronized Duration keepFor() {
    return keepFor;
  }

  synchronized boolean isEnded() {
    return ended;
  }

  /** Returns the watch on the node ahead; null if there is none. */
  synchronized @Nullable Predecessor watched() {
    return watched;
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
