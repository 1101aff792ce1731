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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.apache.zookeeper.OpResult.GetDataResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Renewals. On each connection a request that needs a majority goes first: the session lives, and what is read behind it
 * is no older. Then come the claims' folders. While nothing has come to a folder or gone from it since a claim's place was
 * seen, the claim has that place still. A folder's {@code pzxid} says so, the number of the transaction that made or deleted
 * a child of it last; that comes with the folder's data, in an answer whose length does not depend on how many wait, so that
 * many folders go into one request.
 *
 * <p>A folder that has changed is listed, once for all its claims, if there are few nodes in it. Where there are many, each
 * claim looks for its own node and the one that it watches: a list for each of them, and at each of their refreshes, would be
 * the square of their number.
 */
final class Renewals {
  private static final int FOLDERS_IN_A_REQUEST = 100;

  /** What a folder takes in an answer, with room to spare, besides its data: the lock's name. */
  private static final int FOLDER_BYTES = 120;

  /** A folder with at most so many nodes is listed; the list has less than three kilobytes. */
  private static final int FEW = 32;

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
    private final Map<String, List<Renewed>> folders = new LinkedHashMap<>();
    private boolean anyHeld;
    private @Nullable OwnClaim shortest;

    Round(Link link, Map<ClaimId, Kept> answers) {
      this.link = link;
      this.answers = answers;
    }

    void renew(OwnClaim own, Node node) {
      anyHeld |= own.isGranted();
      if (shortest == null || own.claim.lease().compareTo(shortest.claim.lease()) < 0) {
        shortest = own;
      }
      folders
          .computeIfAbsent(ZooKeeperPaths.parent(node.path()), none -> new ArrayList<>())
          .add(new Renewed(own, node));
    }

    /** All has been given to it: asks, and completes when all is answered. */
    CompletableFuture<?> end() {
      // what only waits promises nothing, and does without a majority that was asked a moment ago
      CompletableFuture<Reply<Boolean>> proof =
          anyHeld || shortest == null ? link.agree() : context.recentAgreement(shortest, link);
      List<CompletableFuture<?>> asked = new ArrayList<>();
      List<String> together = new ArrayList<>();
      int bytes = 0;
      for (Map.Entry<String, List<Renewed>> each : folders.entrySet()) {
        if (each.getValue().stream().noneMatch(one -> one.own().wasSeen())) {
          asked.add(Link.agreed(proof, link.stat(each.getKey()))
              .thenCompose(folder -> looked(each.getKey(), folder)));
          continue;
        }
        int more = FOLDER_BYTES + each.getValue().get(0).own().claim.name().bytes().length;
        if (together.size() == FOLDERS_IN_A_REQUEST
            || (bytes + more > link.longestAnswer() / 2 && !together.isEmpty())) {
          asked.add(look(together, proof));
          together = new ArrayList<>();
          bytes = 0;
        }
        together.add(each.getKey());
        bytes += more;
      }
      if (!together.isEmpty()) {
        asked.add(look(together, proof));
      }
      return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new));
    }

    /** Looks whether the folders are still as they were. */
    private CompletableFuture<?> look(List<String> paths, CompletableFuture<Reply<Boolean>> proof) {
      List<Op> reads = paths.stream().map(Op::getData).toList();
      return proof
          .thenCombine(link.read(reads), (agreed, read) -> {
            if (agreed.isAgreed() && read.isLost()) {
              // it may have been more than the client takes, and would be again: the next time each is asked for alone
              paths.forEach(path -> claimsIn(path).forEach(each -> each.own().unseen()));
            }
            return read.behind(agreed);
          })
          .thenCompose(read -> looked(paths, read));
    }

    private List<Renewed> claimsIn(String folder) {
      return Objects.requireNonNull(folders.get(folder));
    }

    private CompletableFuture<?> looked(List<String> paths, Reply<List<OpResult>> read) {
      List<CompletableFuture<?>> all = new ArrayList<>();
      for (int i = 0; i < paths.size(); i++) {
        String path = paths.get(i);
        if (read.code() == Code.UNIMPLEMENTED) {
          // a server before 3.6, which does not read several nodes at once
          all.add(link.stat(path).thenCompose(folder -> looked(path, folder.since(read.sent()))));
        } else {
          all.add(looked(path, folder(read, i)));
        }
      }
      return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
    }

    /**
     * Answers for the claims whose folder is as they saw it, and looks closer for the others. What the majority had decided
     * before it was asked is in what this server says.
     */
    private CompletableFuture<?> looked(String path, Reply<Stat> folder) {
      List<Renewed> changed = new ArrayList<>();
      for (Renewed each : claimsIn(path)) {
        if (folder.isOk() && each.own().isAsSeen(each.node(), folder.get())) {
          answers.put(each.own().claim.id(), inPlace(each, folder.sent()));
        } else {
          changed.add(each);
        }
      }
      if (changed.isEmpty()) {
        return CompletableFuture.completedFuture(null);
      }
      if (!folder.isOk() || folder.get().getNumChildren() <= FEW) {
        return link.queue(path, folder).thenAccept(list -> {
          for (Renewed each : changed) {
            answers.put(each.own().claim.id(), listed(each, list.since(folder.sent())));
          }
        });
      }
      return CompletableFuture.allOf(
          changed.stream().map(each -> find(each, folder)).toArray(CompletableFuture[]::new));
    }

    /** Looks for the claim's node and the one ahead of it, in a folder with many. */
    private CompletableFuture<?> find(Renewed each, Reply<Stat> folder) {
      Predecessor watched = each.own().watched();
      CompletableFuture<Reply<Stat>> mine = link.stat(each.node().path());
      CompletableFuture<Reply<Stat>> ahead = watched == null ? mine : link.stat(watched.path());
      return mine.thenCombine(
          ahead,
          (found, before) -> answers.put(
              each.own().claim.id(), found(each, folder, found, watched != null && before.isOk())));
    }
  }

  /** What was read of one folder in a request for several. */
  private static Reply<Stat> folder(Reply<List<OpResult>> read, int place) {
    if (!read.isOk()) {
      return new Reply<>(read.code(), null, read.sent());
    }
    OpResult result = read.get().get(place);
    return result instanceof GetDataResult folder
        ? new Reply<>(Code.OK, folder.getStat(), read.sent())
        : new Reply<>(Code.get(((ErrorResult) result).getErr()), null, read.sent());
  }

  private Kept found(Renewed each, Reply<Stat> folder, Reply<Stat> mine, boolean isBehind) {
    OwnClaim own = each.own();
    if (!(mine.isOk() || mine.isAbsent()) || !each.node().equals(own.node())) {
      return UNKNOWN;
    }
    if (mine.isAbsent()) {
      return gone(own);
    }
    if (own.isGranted()) {
      own.othersWait(true);
      own.seen(each.node(), folder.get());
    } else if (isBehind) {
      own.seen(each.node(), folder.get());
    } else if (!own.isLooking()) {
      context.events().lookAgain(own.claim.id());
    }
    return inPlace(each, folder.sent());
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
      return gone(own);
    }
    own.othersWait(LockNode.othersThan(own.claim.id(), queue));
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
      own.seen(node, list.get().stat());
      return held(each, list.sent());
    }
    Predecessor watched = own.watched();
    if (watched != null && LockNode.at(watched.path(), queue) != null) {
      own.seen(node, list.get().stat());
    } else if (!own.isLooking()) {
      context.events().lookAgain(own.claim.id());
    }
    return inPlace(each, list.sent());
  }

  private static Kept gone(OwnClaim own) {
    if (!own.isEnded()) {
      own.gone();
    }
    return new Kept.Gone();
  }

  /** It has the lock, or waits, as it did. */
  private Kept inPlace(Renewed each, Moment sent) {
    OwnClaim own = each.own();
    if (own.isGranted()) {
      return held(each, sent);
    }
    return own.stays(context.now(), ZooKeeperGuarantees.WAITER_LEASE.toNanos())
        ? new Kept.Queued()
        : UNKNOWN;
  }

  private Kept held(Renewed each, Moment sent) {
    OwnClaim own = each.own();
    return own.granted(context.now(), own.claim.lease().toNanos()) && !own.session.isClosing()
        ? new Kept.Held(
            new Grant(each.node().revision(), sent, own.claim.lease(), own.othersWait()))
        : UNKNOWN;
  }
}
