// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Scheduler.Scheduled;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.zookeeper.NodeData.KeptLock;
import io.holdfast.zookeeper.OwnClaim.Node;
import io.holdfast.zookeeper.Reply.Data;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Locks that stay taken after their release: a persistent marker in the folder, with the time until which it is kept by the
 * clock of the leading server. That clock is read off a node of our own, from the times of its making and its last change.
 *
 * <p>Whoever keeps a lock changes its own node first, so that the claim behind it does not take the node's deletion for a
 * grant; then the marker comes and the node goes in one step.
 */
final class KeptLocks {
  private static final long LATER_NANOS = 1_000_000_000L;

  /** What is no marker of ours may become one; looked at again then. */
  private static final long UNREADABLE_MILLIS = 1000;

  private final ZooKeeperClients clients;
  private final ZooKeeperSessions sessions;
  private final Watches watches;
  private final StoreRuntime runtime;
  private final StoreEvents events;

  KeptLocks(
      ZooKeeperClients clients,
      ZooKeeperSessions sessions,
      Watches watches,
      StoreRuntime runtime,
      StoreEvents events) {
    this.clients = clients;
    this.sessions = sessions;
    this.watches = watches;
    this.runtime = runtime;
    this.events = events;
  }

  /**
   * Whether the lock is kept.
   *
   * @param isFree it is not, or no longer
   * @param left for how long it is
   */
  record State(boolean isFree, Duration left) {
    static final State FREE = new State(true, Duration.ZERO);
  }

  /**
   * Looks, for the claim that is first in the queue; has it look again, unless it is a try, when the time has come or
   * the marker is gone.
   */
  CompletionStage<State> look(
      OwnClaim own, Node node, Link link, String marker, byte[] data, Mode mode) {
    if (mode == Mode.TRY) {
      return look(own, node, link, marker, data, (Waiting) null);
    }
    Waiting waiting = new Waiting(own.claim.id());
    waiting.shared = watches.join(link, marker, waiting);
    return look(own, node, link, marker, data, waiting).whenComplete((state, failure) -> {
      if (state == null || state.isFree()) {
        waiting.cancel();
      }
    });
  }

  private CompletionStage<State> look(
      OwnClaim own, Node node, Link link, String marker, byte[] data, @Nullable Waiting waiting) {
    CompletableFuture<Reply<Data>> seen =
        link.data(marker, waiting == null ? null : waiting.shared);
    // the time of the change is the server's time now
    CompletableFuture<Reply<Stat>> clock = link.set(node.path(), data);
    return seen.thenCombine(
            clock, (found, changed) -> judge(own, link, marker, found, changed, waiting))
        .thenCompose(state -> state);
  }

  /** What wakes a claim behind a kept lock, until it is cancelled. */
  private final class Waiting implements Watcher, Scheduled {
    private final ClaimId claim;
    private volatile Watches.@Nullable Shared shared;
    private volatile @Nullable Scheduled timer;

    Waiting(ClaimId claim) {
      this.claim = claim;
    }

    @Override
    public void process(WatchedEvent event) {
      if (event.getType() == Event.EventType.NodeDeleted) {
        events.lookAgain(claim);
      }
    }

    @Override
    public void cancel() {
      Watches.Shared joined = shared;
      if (joined != null) {
        joined.leave(this);
      }
      Scheduled due = timer;
      if (due != null) {
        due.cancel();
      }
    }
  }

  private CompletionStage<State> judge(
      OwnClaim own,
      Link link,
      String marker,
      Reply<Data> found,
      Reply<Stat> changed,
      @Nullable Waiting waiting) {
    if (found.isAbsent()) {
      watches.absent(link, marker);
    }
    if (found.isAbsent() || !changed.isOk()) {
      // the caller lists again, and hears of other trouble from that
      return CompletableFuture.completedFuture(State.FREE);
    }
    Optional<KeptLock> kept =
        found.isOk() ? NodeData.readKept(found.get().bytes()) : Optional.empty();
    long left =
        kept.map(known -> known.untilMillis() - changed.get().getMtime()).orElse(UNREADABLE_MILLIS);
    if (left > 0) {
      if (waiting != null) {
        waiting.timer =
            runtime.scheduler().schedule(() -> events.lookAgain(own.claim.id()), left * 1_000_000L);
        own.looks(waiting);
      }
      return CompletableFuture.completedFuture(new State(false, Duration.ofMillis(left)));
    }
    return link.delete(marker, -1).thenApply(deleted -> State.FREE);
  }

  /** Ends a hold, and keeps the lock until so long after its grant. */
  CompletionStage<Reply<?>> keep(OwnClaim own, Node node, Link link, Duration keepFor) {
    return link.set(node.path(), NodeData.write(own.claim)).thenCompose(changed -> {
      if (!changed.isOk()) {
        return CompletableFuture.completedFuture(changed);
      }
      long until = node.ctime() + own.waitedMillis() + ZooKeeperSessions.millisUp(keepFor);
      long left = until - changed.get().getMtime();
      if (left <= 0) {
        return link.delete(node.path(), -1).thenApply(deleted -> deleted);
      }
      String marker = ZooKeeperPaths.marker(ZooKeeperPaths.parent(node.path()), node.revision());
      byte[] data = NodeData.write(new KeptLock(until, node.revision()));
      // whatever comes of it: the answer may be lost
      cleanLater(marker, left);
      return link.multi(
              Op.create(marker, data, clients.acl(), CreateMode.PERSISTENT),
              Op.delete(node.path(), -1))
          .thenApply(reply -> {
            if (reply.isLost()) {
              // it may be made so late
              cleanLater(marker, left + link.handle().getSessionTimeout());
            } else if (runtime.ticker().elapsedNanos(reply.sent()) > left * 1_000_000L) {
              // it may have been made behind its deletion, which goes another way
              cleanLater(marker, 0);
            }
            return reply;
          });
    });
  }

  /** A marker that nobody comes upon would stay for ever: its maker takes it away, if it still runs then. */
  private void cleanLater(String marker, long leftMillis) {
    runtime
        .scheduler()
        .schedule(
            () -> {
              // any session may delete it, and the claim's own may have ended by then
              Link link = sessions.main().link();
              if (link != null) {
                Link.unasked(link.delete(marker, -1).thenAccept(deleted -> {
                  if (!deleted.isAgreed() && !deleted.isForbidden() && !sessions.isClosed()) {
                    cleanLater(marker, 0);
                  }
                }));
              } else if (!sessions.isClosed()) {
                cleanLater(marker, 0);
              }
            },
            leftMillis * 1_000_000L + LATER_NANOS);
  }
}
