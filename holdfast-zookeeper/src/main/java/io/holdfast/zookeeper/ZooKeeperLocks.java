// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.ConfigurationException;
import io.holdfast.Holder;
import io.holdfast.LossReason;
import io.holdfast.Moment;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.zookeeper.OwnClaim.Node;
import io.holdfast.zookeeper.Reply.Children;
import io.holdfast.zookeeper.Reply.Created;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.jspecify.annotations.Nullable;

/**
 * The recipe. A claim that queues makes an ephemeral node with a sequence number in the lock's folder, and in the same round lists the folder: the
 * claim whose node has the smallest number holds the lock. Otherwise it watches the node right ahead of its own. A try lists first,
 * and makes a node only if it sees none.
 *
 * <p>A node belongs to the claim in its name and to the session in its name; one of another session is never taken for
 * our own, whatever its claim. Nodes are served in the order of their making, so the czxid of a claim's node is the
 * number of its grant.
 *
 * <p>The server knows sessions, not leases. So this side takes away the node of a claim that the engine has neither renewed nor ended for its
 * lease, or refreshed for the lease of a waiter.
 */
final class ZooKeeperLocks implements Predecessor.Woken {
  /** How often a list is made again, a little later each time, while all that is ahead of a try is leaving. */
  private static final int LOOKS = 4;

  private static final long LOOK_AGAIN_NANOS = 5_000_000L;
  private static final int FOLDER_MADE_AGAIN = 5;

  private final ZooKeeperPaths paths;
  private final ZooKeeperClients clients;
  private final ZooKeeperSessions sessions;
  private final FirstContact contact;
  private final StoreRuntime runtime;
  private final StoreEvents events;
  private final KeptLocks kept;
  private final Map<ClaimId, OwnClaim> claims = new ConcurrentHashMap<>();

  ZooKeeperLocks(
      ZooKeeperPaths paths,
      ZooKeeperClients clients,
      ZooKeeperSessions sessions,
      FirstContact contact,
      StoreRuntime runtime,
      StoreEvents events) {
    this.paths = paths;
    this.clients = clients;
    this.sessions = sessions;
    this.contact = contact;
    this.runtime = runtime;
    this.events = events;
    this.kept = new KeptLocks(clients, runtime, events);
  }

  Instant time() {
    return Instant.ofEpochMilli(runtime.ticker().wallMillis());
  }

  private Moment now() {
    return runtime.ticker().now();
  }

  // attempts

  CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    ZooKeeperSession session = sessions.forLease(claim.lease());
    // one that is opened only now is awaited within the turn: an end that comes meanwhile must not be answered before
    return inTurn(
        claim,
        session,
        own -> own.session.first().thenCompose(ready -> attempt(own, mode, giveUpAt)));
  }

  /** Runs it in the claim's turn; what is left to know of the claim is kept, and no more. */
  private <T> CompletionStage<T> inTurn(
      Claim claim, ZooKeeperSession session, Function<OwnClaim, CompletionStage<T>> turn) {
    OwnClaim own = claims.compute(claim.id(), (id, there) -> {
      OwnClaim known = there != null ? there : new OwnClaim(claim, session, now());
      known.enter();
      return known;
    });
    return own.inTurn(() -> turn.apply(own))
        .whenComplete((value, failure) ->
            claims.computeIfPresent(claim.id(), (id, known) -> known.leave() ? null : known));
  }

  private CompletionStage<Answer> attempt(OwnClaim own, Mode mode, Instant giveUpAt) {
    if (time().isAfter(giveUpAt)) {
      return CompletableFuture.completedFuture(new Answer.Late());
    }
    Link link = own.session.link();
    if (link == null) {
      return CompletableFuture.failedFuture(ZooKeeperErrors.notConnected());
    }
    Optional<ConfigurationException> tooShort = contact.tooShort(link, own.claim.lease());
    if (tooShort.isPresent()) {
      return CompletableFuture.failedFuture(tooShort.get());
    }
    if (own.node() == null && !own.mayHaveMore()) {
      own.stays(now(), longest(own.claim));
    }
    return new Attempt(own, mode, link).begin();
  }

  private static long longest(Claim claim) {
    return Math.max(claim.lease().toNanos(), ZooKeeperGuarantees.WAITER_LEASE.toNanos());
  }

  /** One attempt, in its turn, on one session. */
  private final class Attempt {
    private final OwnClaim own;
    private final Mode mode;
    private final Link link;
    private final String folder;
    private final byte[] data;
    private int foldersMade;
    private int looks;

    Attempt(OwnClaim own, Mode mode, Link link) {
      this.own = own;
      this.mode = mode;
      this.link = link;
      this.folder = paths.folder(own.claim.name());
      this.data = NodeData.write(own.claim);
    }

    CompletionStage<Answer> begin() {
      Node node = own.node();
      if (node != null && node.session() == link.sessionId()) {
        return link.children(folder).thenCompose(list -> evaluate(node, list));
      }
      if (node != null) {
        // of a session that has ended: its node would stand in our own way until the server has noticed
        Link.unasked(link.delete(node.path(), -1));
        own.gone();
      }
      if (own.mayHaveMore()) {
        return link.childrenNow(folder).thenCompose(this::find);
      }
      return mode == Mode.QUEUE ? create(-1) : lookFirst();
    }

    /** An earlier answer was lost: there may be a node. */
    private CompletionStage<Answer> find(Reply<Children> list) {
      if (list.isOk()) {
        LockNode mine = mine(LockNode.queue(list.get().names()));
        if (mine != null) {
          String path = folder + "/" + mine.name();
          return link.data(path, null).thenCompose(found -> {
            if (!found.isOk()) {
              return failed("find the claim again", found);
            }
            Node node = new Node(path, link.sessionId(), found.get().stat());
            own.made(node, found.sent());
            return evaluate(node, list);
          });
        }
      } else if (!list.isAbsent()) {
        return failed("list the lock's claims", list);
      }
      return mode == Mode.QUEUE ? create(-1) : lookFirst();
    }

    private CompletionStage<Answer> lookFirst() {
      return link.childrenNow(folder).thenCompose(list -> {
        if (list.isAbsent()) {
          return create(0);
        }
        if (!list.isOk()) {
          return failed("list the lock's claims", list);
        }
        List<LockNode> queue = LockNode.queue(list.get().names());
        if (queue.isEmpty()) {
          // ZooKeeper counts every child that comes and every one that goes
          int coming = (list.get().stat().getCversion() + list.get().stat().getNumChildren()) / 2;
          return create(coming);
        }
        if (queue.get(0).isLeaving() && ++looks < LOOKS) {
          return later(LOOK_AGAIN_NANOS << looks, this::lookFirst);
        }
        return link.data(folder + "/" + queue.get(0).name(), null)
            .thenApply(first -> new Answer.Busy(false, holderIn(first), Optional.empty()));
      });
    }

    private CompletionStage<Answer> create(int expected) {
      String name = LockNode.nameFor(own.claim.id(), link.sessionId(), mode == Mode.TRY, expected);
      CompletableFuture<Reply<Created>> create =
          link.create(folder + "/" + name, data, clients.acl(), CreateMode.EPHEMERAL_SEQUENTIAL);
      // sent together: the server makes the list behind the node
      CompletableFuture<Reply<Children>> list = link.children(folder);
      return create.thenCombine(list, this::created).thenCompose(Function.identity());
    }

    private CompletionStage<Answer> created(Reply<Created> made, Reply<Children> list) {
      if (made.isAbsent() && foldersMade++ < FOLDER_MADE_AGAIN) {
        // for the first time, or the server has removed the empty folder meanwhile
        makeFolder(own.claim.name());
        return create(mode == Mode.TRY ? 0 : -1);
      }
      if (made.isLost()) {
        own.lost(now());
      }
      if (!made.isOk()) {
        return failed("queue for the lock", made);
      }
      Node node = new Node(made.get().path(), link.sessionId(), made.get().stat());
      own.made(node, made.sent());
      return evaluate(node, list);
    }

    private void makeFolder(LockKey key) {
      // what is there already is as good; answers come before those of the requests that follow
      Link.unasked(
          link.create(paths.bucket(key), new byte[0], clients.acl(), CreateMode.PERSISTENT));
      Link.unasked(link.create(folder, key.bytes(), clients.acl(), CreateMode.CONTAINER));
    }

    private CompletionStage<Answer> evaluate(Node node, Reply<Children> list) {
      if (node.revision() <= 0 || node.revision() >= Grant.REVISION_LIMIT) {
        Link.unasked(link.delete(node.path(), -1));
        own.gone();
        return CompletableFuture.failedFuture(new StoreException(
            "this ensemble has had too many leaders: its transaction numbers no longer fit into a token",
            Reason.DAMAGED,
            true,
            null));
      }
      if (list.isAbsent()) {
        own.gone();
      }
      if (!list.isOk()) {
        return failed("list the lock's claims", list);
      }
      List<LockNode> queue = LockNode.queue(list.get().names());
      LockNode mine = mine(queue);
      if (mine == null) {
        // an operator, or this side, has ended it
        own.gone();
        return CompletableFuture.failedFuture(
            new StoreException("the claim was ended", Reason.UNREACHABLE, true, null));
      }
      own.othersWait(othersThan(own.claim, queue));
      Optional<String> marker = ZooKeeperPaths.markerIn(list.get().names());
      int place = queue.indexOf(mine);
      if (own.isGranted() || (place == 0 && marker.isEmpty())) {
        return CompletableFuture.completedFuture(granted(node, list.sent()));
      }
      if (place == 0) {
        return kept.look(own, node, link, folder + "/" + marker.orElseThrow(), data)
            .thenCompose(state -> state.isFree()
                ? link.children(folder).thenCompose(again -> evaluate(node, again))
                : busy(node, Optional.empty(), Optional.of(state.left())));
      }
      return behind(node, queue, place, marker.isPresent());
    }

    private Answer granted(Node node, Moment sent) {
      own.granted(now(), own.claim.lease().toNanos());
      return new Answer.Granted(
          new Grant(node.revision(), sent, own.claim.lease(), own.othersWait()));
    }

    private CompletionStage<Answer> behind(
        Node node, List<LockNode> queue, int place, boolean isKept) {
      String ahead = folder + "/" + queue.get(place - 1).name();
      if (mode == Mode.TRY) {
        return link.data(folder + "/" + queue.get(0).name(), null)
            .thenCompose(first -> busy(node, holderIn(first), Optional.empty()));
      }
      Predecessor watch =
          own.watch(new Predecessor(own, node, ahead, place == 1 && !isKept, ZooKeeperLocks.this));
      CompletableFuture<Reply<Reply.Data>> seen = link.data(ahead, watch);
      CompletableFuture<Reply<Reply.Data>> first =
          place == 1 ? seen : link.data(folder + "/" + queue.get(0).name(), null);
      return seen.thenCompose(watched -> {
        if (watched.isAbsent()) {
          // it has gone between the list and the watch, and may have left a kept lock
          return link.children(folder).thenCompose(again -> evaluate(node, again));
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
        own.stays(now(), ZooKeeperGuarantees.WAITER_LEASE.toNanos());
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

    private @Nullable LockNode mine(List<LockNode> queue) {
      return ownIn(queue, own.claim.id(), link.sessionId());
    }

    private CompletionStage<Answer> later(long nanos, Supplier<CompletionStage<Answer>> then) {
      CompletableFuture<@Nullable Void> due = new CompletableFuture<>();
      runtime.scheduler().schedule(() -> due.complete(null), nanos);
      return due.thenCompose(nothing -> then.get());
    }
  }

  private static @Nullable LockNode ownIn(List<LockNode> queue, ClaimId id, long session) {
    for (LockNode each : queue) {
      if (each.session() == session && each.claim().equals(id)) {
        return each;
      }
    }
    return null;
  }

  private static boolean othersThan(Claim claim, List<LockNode> queue) {
    return queue.stream()
        .anyMatch(each -> !each.claim().client().equals(claim.id().client()));
  }

  // waiting

  @Override
  public void changed(Predecessor which) {
    Link link = which.claim().session.link();
    if (link != null) {
      Link.unasked(link.data(which.path(), which).thenAccept(seen -> {
        if (seen.isAbsent()) {
          deleted(which);
        }
      }));
    }
  }

  @Override
  public void deleted(Predecessor which) {
    OwnClaim own = which.claim();
    Claim claim = own.claim;
    Link link = own.session.link();
    Moment alive = own.session.lastAcknowledged();
    long lease = Math.min(claim.lease().toNanos(), ZooKeeperGuarantees.WAITER_LEASE.toNanos());
    boolean isFresh = runtime.ticker().elapsedNanos(alive) < lease / 2;
    if (which.decides()
        && isFresh
        && link != null
        && link.sessionId() == which.own().session()
        && own.isWatching(which)) {
      own.granted(now(), ZooKeeperGuarantees.WAITER_LEASE.toNanos());
      // who has come behind us meanwhile was not seen
      events.granted(
          claim.id(), new Grant(which.own().revision(), alive, Duration.ofNanos(lease), true));
    } else {
      events.lookAgain(claim.id());
    }
  }

  // renewal

  CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> asked) {
    Map<ClaimId, Kept> answers = new ConcurrentHashMap<>();
    List<CompletableFuture<?>> all = new ArrayList<>(asked.size());
    for (Claim claim : asked) {
      all.add(keep(claim).thenAccept(answer -> answers.put(claim.id(), answer)));
    }
    return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
        .thenApply(nothing -> Map.copyOf(answers));
  }

  private CompletableFuture<Kept> keep(Claim claim) {
    OwnClaim own = claims.get(claim.id());
    Node node = own == null ? null : own.node();
    if (own == null || node == null) {
      boolean certain = own == null || !own.mayHaveMore();
      return CompletableFuture.completedFuture(certain ? new Kept.Gone() : new Kept.Unknown());
    }
    Link link = own.session.link();
    if (link == null) {
      return CompletableFuture.completedFuture(new Kept.Unknown());
    }
    if (link.sessionId() != node.session()) {
      return CompletableFuture.completedFuture(new Kept.Gone());
    }
    return link.children(ZooKeeperPaths.parent(node.path()))
        .thenApply(list -> kept(own, node, list));
  }

  private Kept kept(OwnClaim own, Node node, Reply<Children> list) {
    if (!list.isOk() && !list.isAbsent()) {
      return new Kept.Unknown();
    }
    List<LockNode> queue = list.isOk() ? LockNode.queue(list.get().names()) : List.of();
    LockNode mine = ownIn(queue, own.claim.id(), node.session());
    if (mine == null) {
      if (!own.isEnded()) {
        own.gone();
      }
      return new Kept.Gone();
    }
    boolean others = othersThan(own.claim, queue);
    own.othersWait(others);
    boolean isFirst =
        queue.get(0).equals(mine) && ZooKeeperPaths.markerIn(list.get().names()).isEmpty();
    if (own.isGranted() || isFirst) {
      own.granted(now(), own.claim.lease().toNanos());
      return new Kept.Held(new Grant(node.revision(), list.sent(), own.claim.lease(), others));
    }
    own.stays(now(), ZooKeeperGuarantees.WAITER_LEASE.toNanos());
    return new Kept.Queued();
  }

  // the end

  CompletionStage<Ended> end(Claim claim, Duration keepFor) {
    return inTurn(claim, sessions.main(), own -> {
      own.end();
      Link link = own.session.link();
      if (link == null && own.node() == null && !own.mayHaveMore()) {
        return ended(own, Ended.Outcome.NOT_THERE);
      }
      // any session may delete a node
      Link any = link != null ? link : sessions.main().link();
      if (any == null) {
        return CompletableFuture.failedFuture(ZooKeeperErrors.notConnected());
      }
      return new End(own, keepFor, any).begin();
    });
  }

  private CompletionStage<Ended> ended(OwnClaim own, Ended.Outcome outcome) {
    boolean isFinal = !own.mayStillCome(runtime.ticker(), sessionNanos(own));
    if (isFinal) {
      own.foundAll();
    }
    return CompletableFuture.completedFuture(new Ended(outcome, isFinal, own.othersWait()));
  }

  /** For so long may a request that was sent once still be applied: its session does not live longer. */
  private static long sessionNanos(OwnClaim own) {
    Link link = own.session.link();
    return link == null ? Long.MAX_VALUE : link.handle().getSessionTimeout() * 1_000_000L;
  }

  /** The end of a claim, in its turn. */
  private final class End {
    private final OwnClaim own;
    private final Duration keepFor;
    private final Link link;

    End(OwnClaim own, Duration keepFor, Link link) {
      this.own = own;
      this.keepFor = keepFor;
      this.link = link;
    }

    CompletionStage<Ended> begin() {
      Node node = own.node();
      if (node == null) {
        return sweep(Ended.Outcome.NOT_THERE);
      }
      boolean held = own.isGranted();
      if (held && !keepFor.isZero()) {
        return kept.keep(own, node, link, keepFor).thenCompose(this::deleted);
      }
      return link.delete(node.path(), -1).thenCompose(this::deleted);
    }

    private CompletionStage<Ended> deleted(Reply<?> reply) {
      if (!reply.isOk() && !reply.isAbsent()) {
        return CompletableFuture.failedFuture(ZooKeeperErrors.of("could not end the claim", reply));
      }
      Ended.Outcome outcome = reply.isAbsent()
          ? Ended.Outcome.NOT_THERE
          : own.isGranted() ? Ended.Outcome.RELEASED : Ended.Outcome.WITHDRAWN;
      own.gone();
      return own.mayHaveMore() ? sweep(outcome) : ended(own, outcome);
    }

    /** Deletes what there is of the claim though this side does not know it. */
    private CompletionStage<Ended> sweep(Ended.Outcome known) {
      String folder = paths.folder(own.claim.name());
      return link.childrenNow(folder).thenCompose(list -> {
        if (list.isAbsent()) {
          return ended(own, known);
        }
        if (!list.isOk()) {
          return CompletableFuture.failedFuture(
              ZooKeeperErrors.of("could not look for the claim", list));
        }
        List<CompletableFuture<Reply<Boolean>>> deletes = new ArrayList<>();
        for (LockNode each : LockNode.queue(list.get().names())) {
          if (each.claim().equals(own.claim.id())) {
            deletes.add(link.delete(folder + "/" + each.name(), -1));
          }
        }
        return CompletableFuture.allOf(deletes.toArray(CompletableFuture[]::new))
            .thenCompose(nothing -> {
              for (CompletableFuture<Reply<Boolean>> each : deletes) {
                Reply<Boolean> reply = each.join();
                if (!reply.isOk() && !reply.isAbsent()) {
                  return CompletableFuture.failedFuture(
                      ZooKeeperErrors.of("could not end the claim", reply));
                }
              }
              boolean found = !deletes.isEmpty() && known == Ended.Outcome.NOT_THERE;
              return ended(own, found ? Ended.Outcome.WITHDRAWN : known);
            });
      });
    }
  }

  // sessions and leases

  /** A session is over: nothing of it is inherited. */
  void sessionEnded(ZooKeeperSession session, long sessionId) {
    for (OwnClaim own : claims.values()) {
      Node node = own.node();
      if (own.session == session && node != null && node.session() == sessionId) {
        if (own.isGranted()) {
          events.lost(own.claim.id(), LossReason.SESSION_ENDED);
          // the server may not have noticed yet, and the engine ends no claim that it was told is lost
          own.stays(now(), 0);
        } else {
          events.lookAgain(own.claim.id());
        }
      }
    }
  }

  /** Takes away what the engine has neither renewed nor ended in time. Called on the timer, again and again. */
  void endOverdue() {
    for (OwnClaim own : claims.values()) {
      if (own.isOverdue(runtime.ticker())) {
        inTurn(own.claim, own.session, this::expire);
      } else if (own.isNothing()) {
        claims.computeIfPresent(own.claim.id(), (id, known) -> known.isNothing() ? null : known);
      }
    }
  }

  private CompletionStage<Boolean> expire(OwnClaim own) {
    Link link = own.session.link();
    Node node = own.node();
    if (node == null || link == null) {
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
    List<CompletableFuture<Map<ClaimId, LockKey>>> all = new ArrayList<>();
    for (ZooKeeperSession session : sessions.all()) {
      Link link = session.link();
      if (link != null) {
        all.add(link.ephemerals(paths.root()).thenCompose(found -> named(link, found)));
      }
    }
    return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).thenApply(nothing -> {
      Map<ClaimId, LockKey> own = new HashMap<>();
      all.forEach(each -> own.putAll(each.join()));
      return own;
    });
  }

  private CompletableFuture<Map<ClaimId, LockKey>> named(Link link, Reply<List<String>> found) {
    if (!found.isOk()) {
      return CompletableFuture.failedFuture(
          ZooKeeperErrors.of("could not list this client's claims", found));
    }
    Map<ClaimId, LockKey> own = new ConcurrentHashMap<>();
    List<CompletableFuture<?>> unknown = new ArrayList<>();
    for (String path : found.get()) {
      LockNode.parse(ZooKeeperPaths.last(path)).map(LockNode::claim).ifPresent(id -> {
        OwnClaim known = claims.get(id);
        if (known != null) {
          own.put(id, known.claim.name());
        } else if (id.client().equals(runtime.client())) {
          unknown.add(link.data(ZooKeeperPaths.parent(path), null).thenAccept(folder -> {
            if (folder.isOk()) {
              own.put(id, LockKey.of(NodeData.text(folder.get().bytes())));
            }
          }));
        }
      });
    }
    return CompletableFuture.allOf(unknown.toArray(CompletableFuture[]::new))
        .thenApply(nothing -> own);
  }
}
