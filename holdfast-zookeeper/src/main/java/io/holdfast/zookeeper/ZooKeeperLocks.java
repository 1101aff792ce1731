// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.ConfigurationException;
import io.holdfast.LossReason;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.zookeeper.OwnClaim.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The recipe. A claim that queues makes an ephemeral node with a sequence number in the lock's folder, and in the same
 * round lists the folder: the claim whose node has the smallest number holds the lock. Otherwise it watches the node
 * right ahead of its own. A try lists first, and makes a node only if it sees none.
 *
 * <p>A node belongs to the claim in its name and to the session in its name; one of another session is never taken for
 * our own, whatever its claim. Nodes are served in the order of their making, so the czxid of a claim's node is the
 * number of its grant.
 *
 * <p>The server knows sessions, not leases. So this side takes away the node of a claim that the engine has neither
 * renewed nor ended for its lease, or refreshed for the lease of a waiter.
 */
final class ZooKeeperLocks {
  private final ZooKeeperContext context;
  private final ZooKeeperSessions sessions;
  private final StoreRuntime runtime;
  private final StoreEvents events;
  private final Wakes wakes;
  private final Map<ClaimId, OwnClaim> claims = new ConcurrentHashMap<>();
  private final Overdue overdue;
  private final Renewals renewals;

  ZooKeeperLocks(ZooKeeperContext context) {
    this.context = context;
    this.sessions = context.sessions();
    this.runtime = context.runtime();
    this.events = context.events();
    this.wakes = new Wakes(context);
    this.overdue = new Overdue(runtime.ticker(), claims);
    this.renewals = new Renewals(context, claims, overdue);
  }

  Instant time() {
    return Instant.ofEpochMilli(runtime.ticker().wallMillis());
  }

  // attempts

  CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    overdue.expect(claim);
    ZooKeeperSession session = sessions.forLease(claim.lease());
    // one that is opened only now is awaited within the turn: an end that comes meanwhile must not
    // be answered before
    return inTurn(
        claim,
        session,
        own -> own.session.first().thenCompose(ready -> attempt(own, mode, giveUpAt)));
  }

  /**
   * Runs it in the claim's turn; what is left to know of the claim is kept, and no more.
   *
   * @param session the session that was entered for this call; it is left again if the claim is known already
   */
  private <T> CompletionStage<T> inTurn(
      Claim claim, ZooKeeperSession session, Function<OwnClaim, CompletionStage<T>> turn) {
    OwnClaim fresh = new OwnClaim(claim, session, context.now());
    OwnClaim own = claims.compute(claim.id(), (id, there) -> {
      OwnClaim known = there != null ? there : fresh;
      known.enter();
      return known;
    });
    if (own != fresh) {
      session.leave();
    }
    return own.inTurn(() -> turn.apply(own))
        .whenComplete((value, failure) -> claims.computeIfPresent(claim.id(), (id, known) -> {
          known.leave();
          return known.leaveIfNothing(runtime.ticker());
        }));
  }

  private CompletionStage<Answer> attempt(OwnClaim own, Mode mode, Instant giveUpAt) {
    if (time().isAfter(giveUpAt)) {
      return CompletableFuture.completedFuture(new Answer.Late());
    }
    Link link = own.session.link();
    if (link == null) {
      return CompletableFuture.failedFuture(context.contact().notConnected());
    }
    Optional<ConfigurationException> tooShort = context.contact().tooShort(link, own.claim.lease());
    if (tooShort.isPresent()) {
      return CompletableFuture.failedFuture(tooShort.get());
    }
    if (own.node() == null && !own.mayHaveMore()) {
      own.stays(context.now(), longest(own.claim));
    }
    return new Attempt(context, wakes, own, mode, link).begin();
  }

  private static long longest(Claim claim) {
    return Math.max(claim.lease().toNanos(), ZooKeeperGuarantees.WAITER_LEASE.toNanos());
  }

  CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> asked) {
    return renewals.keep(asked);
  }

  // the end

  CompletionStage<Ended> end(Claim claim, Duration keepFor) {
    ZooKeeperSession main = sessions.main();
    main.enter();
    return inTurn(claim, main, own -> end(own, keepFor));
  }

  private CompletionStage<Ended> end(OwnClaim own, Duration keepFor) {
    own.end(keepFor);
    Link link = own.session.link();
    if (link == null && own.node() == null && !own.mayHaveMore()) {
      return Ending.ended(context, own, Ended.Outcome.NOT_THERE);
    }
    // any session may delete a node
    Link any = link != null ? link : sessions.main().link();
    if (any == null) {
      return CompletableFuture.failedFuture(context.contact().notConnected());
    }
    return new Ending(context, own, keepFor, any).begin();
  }

  /**
   * Ends every claim that no request is at, as it was to end before, as far as the connection allows; returns whether none is
   * left.
   */
  boolean endLeftOver() {
    for (OwnClaim own : claims.values()) {
      if (own.isIdle() && own.session.enter()) {
        inTurn(own.claim, own.session, left -> end(left, left.keepFor()));
      }
    }
    return claims.isEmpty();
  }

  // sessions and leases

  /** A session is over: nothing of it is inherited. */
  void sessionEnded(ZooKeeperSession session, long sessionId) {
    context.watches().over(sessionId);
    for (OwnClaim own : claims.values()) {
      Node node = own.node();
      if (own.session == session && node != null && node.session() == sessionId) {
        if (own.isGranted()) {
          events.lost(own.claim.id(), LossReason.SESSION_ENDED);
          // the server may not have noticed yet, and the engine ends no claim that it was told is
          // lost
          own.stays(context.now(), 0);
          overdue.soon();
        } else {
          events.lookAgain(own.claim.id());
        }
      }
    }
  }

  /** Takes away what the engine has neither renewed nor ended in time. Called on the timer, again and again. */
  void endOverdue() {
    overdue.look(own -> {
      if (own.session.enter()) {
        inTurn(own.claim, own.session, this::expire);
      }
    });
  }

  private CompletionStage<Boolean> expire(OwnClaim own) {
    Link link = own.session.link();
    if (link == null && own.isGranted() && own.session.isClosing()) {
      // its grant may have crossed the news
      events.lost(own.claim.id(), LossReason.SESSION_ENDED);
    }
    // it may have been granted or refreshed by the turns before this one
    Node node = link == null ? null : own.expires(runtime.ticker());
    if (link == null || node == null) {
      return CompletableFuture.completedFuture(false);
    }
    return link.delete(node.path(), -1).thenApply(deleted -> {
      if (deleted.isOk() || deleted.isAbsent()) {
        own.gone();
      }
      return deleted.isOk();
    });
  }

  /** The claims of this client that its sessions have in the store. */
  CompletionStage<Map<ClaimId, LockKey>> own() {
    return new OwnNodes(context, claims).list();
  }
}
