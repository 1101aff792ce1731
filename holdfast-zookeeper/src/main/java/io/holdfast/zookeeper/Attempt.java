// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Holder;
import io.holdfast.Moment;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.zookeeper.OwnClaim.Node;
import io.holdfast.zookeeper.Reply.Children;
import io.holdfast.zookeeper.Reply.Created;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * One attempt, in its claim's turn, on one session. A claim that queues makes its node and has the folder's nodes counted in
 * the same round; where there are others, it lists them (in the same round, where they were few a moment ago). It has the
 * lock if its node is the first, and else watches the node right ahead; asked again, it looks only for that one and its own,
 * as long as both are there. A try looks first, and makes a node only if it sees none.
 */
final class Attempt {
  /** How often a list is made again, a little later each time, while all that is ahead of a try is leaving. */
  private static final int LOOKS = 4;

  private static final long LOOK_AGAIN_NANOS = 5_000_000L;
  private static final int FOLDER_MADE_AGAIN = 5;

  private final ZooKeeperContext context;
  private final Wakes wakes;
  private final OwnClaim own;
  private final Mode mode;
  private final Link link;
  private final String folder;
  private final byte[] data;
  private int foldersMade;

  /** Why the lock's folder, or the one above it, was not made; the answers come one after the other. */
  private volatile @Nullable Reply<Created> folderRefused;

  private int looks;

  Attempt(ZooKeeperContext context, Wakes wakes, OwnClaim own, Mode mode, Link link) {
    this.context = context;
    this.wakes = wakes;
    this.own = own;
    this.mode = mode;
    this.link = link;
    this.folder = context.paths().folder(own.claim.name());
    this.data = NodeData.write(own.claim);
  }

  CompletionStage<Answer> begin() {
    Node node = own.node();
    if (node != null && node.session() == link.sessionId()) {
      if (own.isExpiring()) {
        return anew(node);
      }
      Predecessor ahead = own.watched();
      // a second node of it, whose delete was lost, is seen in the list only
      return mode == Mode.QUEUE && ahead != null && !ahead.isGone() && !own.mayHaveMore()
          ? still(node, ahead)
          : queueStill().thenCompose(list -> evaluate(node, list));
    }
    if (node != null) {
      // of a session that has ended: its node would stand in our own way until the server has
      // noticed
      Link.unasked(link.delete(node.path(), -1));
      own.gone();
    }
    if (own.mayHaveMore()) {
      return link.queueAgreed(folder).thenCompose(this::find);
    }
    return mode == Mode.QUEUE ? create(-1) : lookFirst();
  }

  /** The node was being taken away when the answer was lost: it is not waited or held with any more. */
  private CompletionStage<Answer> anew(Node node) {
    return link.delete(node.path(), -1).thenCompose(deleted -> {
      if (!deleted.isOk() && !deleted.isAbsent()) {
        return failed("take the overdue claim away", deleted);
      }
      own.gone();
      return begin();
    });
  }

  /** An earlier answer was lost: there may be a node. */
  private CompletionStage<Answer> find(Reply<Children> list) {
    if (list.isOk()) {
      List<LockNode> queue = LockNode.queue(list.get().names());
      Optional<LockNode> mine = queue.stream().filter(this::isMine).findFirst();
      if (mine.isPresent()) {
        String path = folder + "/" + mine.get().name();
        return link.data(path, null).thenCompose(found -> {
          if (!found.isOk()) {
            return failed("find the claim again", found);
          }
          Node node = new Node(path, link.sessionId(), found.get().stat());
          own.made(node, own.lostSince(found.sent()));
          return link.queueAgreed(folder).thenCompose(again -> evaluate(node, again));
        });
      }
    } else if (!list.isAbsent()) {
      return failed("list the lock's claims", list);
    }
    return mode == Mode.QUEUE ? create(-1) : lookFirst();
  }

  /** What an old count shows to be free is seen when the node is made; what it shows to be busy is asked for once more. */
  private CompletionStage<Answer> lookFirst() {
    return link.statSynced(folder).thenCompose(counted -> {
      if (counted.isAbsent()) {
        return create(0);
      }
      if (!counted.isOk()) {
        return failed("look at the lock", counted);
      }
      return counted.get().getNumChildren() == 0
          ? create(nextNumber(counted.get()))
          : Link.agreed(link.agree(), link.queue(folder, counted)).thenCompose(this::look);
    });
  }

  private CompletionStage<Answer> look(Reply<Children> list) {
    if (list.isAbsent()) {
      return create(0);
    }
    if (!list.isOk()) {
      return failed("list the lock's claims", list);
    }
    List<LockNode> queue = LockNode.queue(list.get().names());
    if (queue.isEmpty()) {
      return create(nextNumber(list.get().stat()));
    }
    if (queue.get(0).isLeaving() && ++looks < LOOKS) {
      return later(LOOK_AGAIN_NANOS << looks, this::lookFirst);
    }
    return link.data(folder + "/" + queue.get(0).name(), null)
        .thenApply(first -> new Answer.Busy(false, holderIn(first), Optional.empty()));
  }

  /**
   * Returns the number that the next claim in a folder gets. ZooKeeper counts each creation and each removal of a child, so
   * that the sum may pass 2^31: it is read as unsigned.
   */
  static int nextNumber(Stat folder) {
    return (folder.getCversion() + folder.getNumChildren()) >>> 1;
  }

  private CompletionStage<Answer> create(int expected) {
    String name = LockNode.nameFor(own.claim.id(), link.sessionId(), mode == Mode.TRY, expected);
    CompletableFuture<Reply<Created>> create = link.create(
        folder + "/" + name, data, context.clients().acl(), CreateMode.EPHEMERAL_SEQUENTIAL);
    // sent together: the server counts, or lists, when it has made the node
    if (link.isShort(folder)) {
      CompletableFuture<Reply<Children>> list = link.queue(folder);
      return create.thenCompose(made -> created(made, node -> list));
    }
    CompletableFuture<Reply<Stat>> count = link.stat(folder);
    return create.thenCompose(made ->
        created(made, node -> count.thenCompose(counted -> listed(node, counted))));
  }

  private CompletionStage<Answer> created(
      Reply<Created> made, Function<Node, CompletableFuture<Reply<Children>>> list) {
    Reply<Created> refused = folderRefused;
    if (made.isAbsent() && refused != null) {
      return failed("make the lock's folder", refused);
    }
    if (made.isAbsent() && foldersMade++ < FOLDER_MADE_AGAIN) {
      // for the first time, or the server has removed the empty folder meanwhile
      makeFolder(own.claim.name());
      return create(mode == Mode.TRY ? 0 : -1);
    }
    if (made.isLost()) {
      own.lost(context.now(), made.sent());
    }
    if (!made.isOk()) {
      return failed("queue for the lock", made);
    }
    Node node = new Node(made.get().path(), link.sessionId(), made.get().stat());
    own.made(node, made.sent());
    return list.apply(node)
        .thenCompose(found ->
            found.isTooLong() ? crowdedOut(node, found) : evaluate(node, found.since(made.sent())));
  }

  /** Where the folder's last change was that our node came, and it is the only one, the list is known. */
  private CompletableFuture<Reply<Children>> listed(Node node, Reply<Stat> counted) {
    boolean isAlone = counted.isOk()
        && counted.get().getNumChildren() == 1
        && counted.get().getPzxid() == node.revision();
    return isAlone
        ? CompletableFuture.completedFuture(
            counted.map(folder -> new Children(List.of(ZooKeeperPaths.last(node.path())), folder)))
        : link.queue(folder, counted);
  }

  private void makeFolder(LockKey key) {
    // answers come before those of the requests that follow
    noteRefusal(link.create(
        context.paths().bucket(key), new byte[0], context.clients().acl(), CreateMode.PERSISTENT));
    noteRefusal(link.create(folder, key.bytes(), context.clients().acl(), CreateMode.CONTAINER));
  }

  private void noteRefusal(CompletableFuture<Reply<Created>> creation) {
    Link.unasked(creation.thenApply(reply -> {
      // what is there already is as good, and what is missing is told by the next reply
      if (folderRefused == null && !reply.isAgreed()) {
        folderRefused = reply;
      }
      return reply;
    }));
  }

  private CompletionStage<Answer> evaluate(Node node, Reply<Children> list) {
    if (node.revision() <= 0 || node.revision() >= Grant.REVISION_LIMIT) {
      return refused(
          node,
          Reason.DAMAGED,
          "this ensemble has had too many leaders: its transaction numbers no longer fit into a"
              + " token");
    }
    if (list.isAbsent()) {
      own.gone();
    }
    if (list.isTooLong()) {
      // it may have been granted by a message meanwhile, or be the next: its node stays, and it asks again
      return CompletableFuture.failedFuture(new StoreException(
          String.valueOf(
              ZooKeeperErrors.of("could not list the lock's claims", list).getMessage()),
          Reason.UNREACHABLE,
          false,
          null));
    }
    if (!list.isOk()) {
      return failed("list the lock's claims", list);
    }
    List<LockNode> queue = LockNode.queue(list.get().names());
    LockNode mine = LockNode.at(node.path(), queue);
    if (mine == null) {
      return ended();
    }
    if (mine.isBeyondCounting()) {
      return refused(
          node,
          Reason.DAMAGED,
          "ZooKeeper cannot count further claims in " + folder
              + ", which has had two thousand million: stop using the lock until the servers have removed the empty"
              + " folder (a minute), or delete it while no client has the lock");
    }
    for (LockNode each : queue) {
      if (isMine(each) && !each.equals(mine)) {
        // nobody will ask for that one, and those behind it would wait for it
        Link.unasked(link.delete(folder + "/" + each.name(), -1));
      }
    }
    own.othersWait(LockNode.othersThan(own.claim.id(), queue));
    Optional<String> marker = ZooKeeperPaths.markerIn(list.get().names());
    int place = queue.indexOf(mine);
    if (marker.isEmpty() && (own.isGranted() || place == 0)) {
      own.seen(node, list.get().stat());
      return granted(node, list.sent());
    }
    own.notGranted();
    if (place == 0) {
      return context
          .kept()
          .look(own, node, link, folder + "/" + marker.orElseThrow(), data, mode)
          .thenCompose(state -> state.isFree()
              ? link.queueAgreed(folder).thenCompose(again -> evaluate(node, again))
              : busy(node, Optional.empty(), Optional.of(state.left())));
    }
    String first = folder + "/" + queue.get(0).name();
    if (mode == Mode.TRY) {
      return link.data(first, null)
          .thenCompose(holder -> busy(node, holderIn(holder), Optional.empty()));
    }
    String ahead = folder + "/" + queue.get(place - 1).name();
    boolean isHeld = place == 1 && marker.isEmpty();
    own.seen(node, list.get().stat());
    return behind(new Predecessor(own, node, ahead, isHeld, first, wakes));
  }

  /** A node that has just been made, and does not know which one is ahead of it, would be in the way of those behind. */
  private CompletionStage<Answer> crowdedOut(Node node, Reply<?> list) {
    StoreException crowd = ZooKeeperErrors.of("could not queue for the lock", list);
    return refused(node, crowd.reason(), String.valueOf(crowd.getMessage()));
  }

  private CompletionStage<Answer> refused(Node node, Reason reason, String why) {
    Link.unasked(link.delete(node.path(), -1));
    own.gone();
    return CompletableFuture.failedFuture(new StoreException(why, reason, true, null));
  }

  /** An operator, or this side, has ended it. */
  private CompletionStage<Answer> ended() {
    own.gone();
    return CompletableFuture.failedFuture(
        new StoreException("the claim was ended", Reason.UNREACHABLE, true, null));
  }

  /** Lists the folder once more for a claim that has a node. */
  private CompletableFuture<Reply<Children>> queueStill() {
    return Link.agreed(context.recentAgreement(own, link), link.queue(folder));
  }

  /** It waited behind that node, which was not seen to go; so it still does, if both are there. */
  private CompletionStage<Answer> still(Node node, Predecessor ahead) {
    return Link.agreed(context.recentAgreement(own, link), link.stat(node.path()))
        .thenCompose(mine -> {
          if (mine.isAbsent()) {
            return ended();
          }
          return mine.isOk() ? behind(ahead.anew()) : failed("look at the claim", mine);
        });
  }

  private CompletionStage<Answer> granted(Node node, Moment sent) {
    boolean stays = own.granted(context.now(), own.claim.lease().toNanos());
    if (!stays || own.session.isClosing()) {
      return CompletableFuture.failedFuture(
          new StoreException("the claim was ended", Reason.UNREACHABLE, false, null));
    }
    return CompletableFuture.completedFuture(
        new Answer.Granted(new Grant(node.revision(), sent, own.claim.lease(), own.othersWait())));
  }

  /** Watches the node ahead and answers busy; lists again if that node has gone. */
  private CompletionStage<Answer> behind(Predecessor fresh) {
    Node node = fresh.own();
    String ahead = fresh.path();
    Predecessor watch = own.watch(fresh);
    CompletableFuture<Reply<Reply.Data>> seen =
        link.data(ahead, watch.join(context.watches(), link));
    CompletableFuture<Reply<Reply.Data>> first =
        ahead.equals(fresh.first()) ? seen : link.data(fresh.first(), null);
    // sent together if it costs little, as the holder may just be leaving
    CompletableFuture<Reply<Children>> next =
        ahead.equals(fresh.first()) && link.isShort(folder) ? queueStill() : null;
    return seen.thenCompose(watched -> {
      if (watched.isAbsent()) {
        context.watches().absent(link, ahead);
        // it has gone between the list and the watch, and may have left a kept lock
        return (next == null ? queueStill() : next).thenCompose(again -> evaluate(node, again));
      }
      if (!watched.isOk()) {
        return failed("watch the claim ahead", watched);
      }
      watch.seen(watched.get().stat().getVersion());
      return first.thenCompose(holder -> busy(node, holderIn(holder), Optional.empty()));
    });
  }

  private Optional<Holder> holderIn(Reply<Reply.Data> first) {
    return first.isOk()
        ? NodeData.readClaim(first.get().bytes()).map(NodeData.Shown::holder)
        : Optional.empty();
  }

  /** A try takes its node away before it says so. */
  private CompletionStage<Answer> busy(
      Node node, Optional<Holder> holder, Optional<Duration> left) {
    if (mode == Mode.QUEUE) {
      own.stays(context.now(), ZooKeeperGuarantees.WAITER_LEASE.toNanos());
      return CompletableFuture.completedFuture(new Answer.Busy(true, holder, left));
    }
    return link.delete(node.path(), -1).thenCompose(deleted -> {
      if (!deleted.isOk() && !deleted.isAbsent()) {
        return failed("take the try back", deleted);
      }
      own.gone();
      return CompletableFuture.completedFuture(new Answer.Busy(false, holder, left));
    });
  }

  /** Whatever the request was: while the claim has a node, the attempt was applied. */
  private CompletionStage<Answer> failed(String what, Reply<?> reply) {
    StoreException failure = ZooKeeperErrors.of("could not " + what, reply);
    boolean left = own.node() != null || own.mayHaveMore();
    return CompletableFuture.failedFuture(
        left && failure.notApplied()
            ? new StoreException(
                String.valueOf(failure.getMessage()), failure.reason(), false, failure)
            : failure);
  }

  private boolean isMine(LockNode node) {
    return node.isOf(own.claim.id(), link.sessionId());
  }

  private CompletionStage<Answer> later(long nanos, Supplier<CompletionStage<Answer>> then) {
    CompletableFuture<@Nullable Void> due = new CompletableFuture<>();
    context.runtime().scheduler().schedule(() -> due.complete(null), nanos);
    return due.thenCompose(nothing -> then.get());
  }
}
