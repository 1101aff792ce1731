// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.spi.Claim;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;

/**
 * What the parts of the recipe share.
 *
 * @param paths where the nodes are
 * @param clients who may do what with them
 * @param sessions the sessions of the store
 * @param contact what was found at the first contact
 * @param kept locks that stay taken after their release
 * @param watches the watches on nodes
 * @param runtime clocks and timer
 * @param events who hears of grants and losses
 */
record ZooKeeperContext(
    ZooKeeperPaths paths,
    ZooKeeperClients clients,
    ZooKeeperSessions sessions,
    FirstContact contact,
    KeptLocks kept,
    Watches watches,
    StoreRuntime runtime,
    StoreEvents events) {
  Moment now() {
    return runtime.ticker().now();
  }

  /**
   * Whether a majority has agreed on a request of the session so recently that a claim can be granted as of then. A
   * node that this server has seen go is gone for good, and none comes ahead of another; only whether our own is still
   * there, a server that is cut off does not know.
   */
  boolean isFresh(Moment agreed, Claim claim) {
    return runtime.ticker().elapsedNanos(agreed) < pushedNanos(claim) / 2;
  }

  /** Returns a majority's last agreement on a request of the claim's session if it is fresh; else asks for one, or shares one that was just sent. */
  CompletableFuture<Reply<Boolean>> recentAgreement(OwnClaim own, Link link) {
    Moment agreed = own.session.lastAgreed();
    return isFresh(agreed, own.claim)
        ? CompletableFuture.completedFuture(new Reply<>(Code.OK, true, agreed))
        : link.agreeTogether();
  }

  /** The lease of a grant that was not asked for, and that perhaps nobody takes. */
  static long pushedNanos(Claim claim) {
    return Math.min(claim.lease().toNanos(), ZooKeeperGuarantees.WAITER_LEASE.toNanos());
  }
}
