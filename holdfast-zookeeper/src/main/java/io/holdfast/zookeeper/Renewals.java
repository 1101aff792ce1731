// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.zookeeper.OwnClaim.Node;
import io.holdfast.zookeeper.Reply.Children;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.GetDataResult;

/**
 * Renewals. On each connection a request that needs a majority goes first: the session lives, and what is read behind it
 * is no older. Then come the claims' folders, of which a claim needs to know only whether its node is still there.
 *
 * <p>A claim that a list has shown to have the lock reads no other list while nothing has come to its folder or gone from
 * it. A folder's {@code pzxid} says so, the number of the transaction that made or deleted a child of it last; that comes
 * with the folder's data, in an answer whose length does not depend on who waits, so that many folders go into
 * one request. Whatever else that shows, the folder is listed, as it is for every other claim.
 */
final class Renewals {
  /** A folder's data is the lock's name: the answer stays far below the megabyte that the client takes. */
  private static final int FOLDERS_IN_A_REQUEST = 100;

  private static final Kept UNKNOWN = new Kept.Unknown();

  private final ZooKeeperContext context;
  private final Map<ClaimId, OwnClaim> claims;
  private final Overdue overdue;

  Renewals(ZooKeeperContext context, Map<ClaimId, OwnClaim> claims, Overdue overdue) {
    this.context = context;
    this.claims = claims;
    this.overdue = overdue;
  }

  CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> asked) {
    Map<ClaimId, Kept> answers = new ConcurrentHashMap<>(asked.size());
    Map<Link, Round> rounds = new HashMap<>();
    for (Claim claim : asked) {
      OwnClaim own = claims.get(claim.id());
      Node node = own == null ? null : own.node();
      Link link = own == null ? null : own.session.link();
      if (own == null || node == null) {
        boolean certain = own == null || !own.mayHaveMore();
        answers.put(claim.id(), certain ? new Kept.Gone() : UNKNOWN);
      } else if (link == null) {
        answers.put(claim.id(), UNKNOWN);
      } else if (link.sessionId() != node.session()) {
        answers.put(claim.id(), new Kept.Gone());
      } else {
        rounds.computeIfAbsent(link, on -> new Round(on, answers)).renew(own, node);
      }
    }
    return CompletableFuture.allOf(
            rounds.values().stream().map(Round::end).toArray(CompletableFuture[]::new))
        .thenApply(nothing -> answers);
  }

  /** A claim, and the node that it had when it was asked for. */
  private record Renewed(OwnClaim own, Node node) {}

  /** What is renewed on one connection. */
  private final class Round {
    private final Link link;
    private final Map<ClaimId, Kept> answers;
    private final CompletableFuture<Reply<Boolean>> proof;
    private final List<CompletableFuture<?>> asked = new ArrayList<>();
    private List<Renewed> listed = new ArrayList<>();

    Round(Link link, Map<ClaimId, Kept> answers) {
      this.link = link;
      this.answers = answers;
      this.proof = link.agree();
    }

    void renew(OwnClaim own, Node node) {
      Renewed renewed = new Renewed(own, node);
      if (!own.wasListed()) {
        asked.add(list(renewed));
        return;
      }
      listed.add(renewed);
      if (listed.size() == FOLDERS_IN_A_REQUEST) {
        look();
      }
    }

    /** All has been asked for; completes when all is answered. */
    CompletableFuture<?> end() {
      look();
      return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new));
    }

    /** Looks whether the folders are still as they were. */
    private void look() {
      List<Renewed> these = listed;
      listed = new ArrayList<>();
      if (these.isEmpty()) {
        return;
      }
      List<Op> reads = new ArrayList<>(these.size());
      for (Renewed each : these) {
        reads.add(Op.getData(ZooKeeperPaths.parent(each.node().path())));
      }
      asked.add(proof
          .thenCombine(link.read(reads), (agreed, folders) -> looked(these, agreed, folders))
          .thenCompose(Function.identity()));
    }

    /** Says, when all is answered, whether it was any answer. */
    private CompletionStage<Boolean> looked(
        List<Renewed> these, Reply<Boolean> agreed, Reply<List<OpResult>> folders) {
      boolean cannotRead = folders.code() == Code.UNIMPLEMENTED;
      if (!agreed.isAgreed() || !(folders.isOk() || cannotRead)) {
        for (Renewed each : these) {
          answers.put(each.own().claim.id(), UNKNOWN);
          if (agreed.isAgreed() && folders.isLost()) {
            // it may have been more than the client takes, and would be again: the next time these are listed
            each.own().unseen();
          }
        }
        return CompletableFuture.completedFuture(false);
      }
      List<OpResult> results = folders.isOk() ? folders.get() : List.of();
      Moment now = context.now();
      List<CompletableFuture<?>> lists = new ArrayList<>();
      for (int i = 0; i < these.size(); i++) {
        Renewed each = these.get(i);
        OwnClaim own = each.own();
        // this server had applied all that was decided before our request was agreed on, so nothing of
        // that is missing in what it says; and where no child has come or gone, the list that there was is
        // the list that there is
        if (i < results.size()
            && results.get(i) instanceof GetDataResult folder
            && own.stillHolds(each.node(), folder.getStat())) {
          answers.put(own.claim.id(), held(each, agreed.sent(), now, own.othersWait()));
        } else {
          lists.add(list(each));
        }
      }
      return CompletableFuture.allOf(lists.toArray(CompletableFuture[]::new))
          .thenApply(nothing -> true);
    }

    private CompletableFuture<?> list(Renewed each) {
      return Link.agreed(proof, link.children(ZooKeeperPaths.parent(each.node().path())))
          .thenAccept(list -> answers.put(each.own().claim.id(), listed(each, list)));
    }
  }

  private Kept listed(Renewed each, Reply<Children> list) {
    OwnClaim own = each.own();
    Node node = each.node();
    boolean isAnswered = list.isOk() || list.isAbsent();
    if (!isAnswered || !node.equals(own.node())) {
      // or the list is of a time when the claim had another node
      return UNKNOWN;
    }
    List<LockNode> queue = list.isOk() ? LockNode.queue(list.get().names()) : List.of();
    LockNode mine = LockNode.at(node.path(), queue);
    if (mine == null) {
      if (!own.isEnded()) {
        own.gone();
      }
      return new Kept.Gone();
    }
    boolean others = LockNode.othersThan(own.claim.id(), queue);
    own.othersWait(others);
    boolean isFirst = queue.get(0).equals(mine);
    boolean isMarked = ZooKeeperPaths.markerIn(list.get().names()).isPresent();
    if (own.isGranted() && isMarked) {
      // nobody can keep a lock that is held: it was kept before, and must not have been granted
      own.notGranted();
      own.stays(context.now(), 0);
      overdue.soon();
      return new Kept.Gone();
    }
    if (own.isGranted() || (isFirst && !isMarked)) {
      own.holds(node, list.get().stat());
      return held(each, list.sent(), context.now(), others);
    }
    if (isFirst && !own.isLooking()) {
      context.events().lookAgain(own.claim.id());
    }
    return own.stays(context.now(), ZooKeeperGuarantees.WAITER_LEASE.toNanos())
        ? new Kept.Queued()
        : UNKNOWN;
  }

  private static Kept held(Renewed each, Moment sent, Moment now, boolean others) {
    OwnClaim own = each.own();
    return own.granted(now, own.claim.lease().toNanos()) && !own.session.isClosing()
        ? new Kept.Held(new Grant(each.node().revision(), sent, own.claim.lease(), others))
        : UNKNOWN;
  }
}
