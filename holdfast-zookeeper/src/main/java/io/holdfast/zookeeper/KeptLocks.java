// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

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
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;

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
  private final StoreRuntime runtime;
  private final StoreEvents events;

  KeptLocks(ZooKeeperClients clients, StoreRuntime runtime, StoreEvents events) {
    this.clients = clients;
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

  /** Looks, for the claim that is first in the queue; has it look again when the time has come or the marker is gone. */
  CompletionStage<State> look(OwnClaim own, Node node, Link link, String marker, byte[] data) {
    Watcher woken = event -> {
      if (event.getType() == Watcher.Event.EventType.NodeDeleted) {
        events.lookAgain(own.claim.id());
      }
    };
    CompletableFuture<Reply<Data>> seen = link.data(marker, woken);
    // the time of the change is the server's time now
    CompletableFuture<Reply<Stat>> clock = link.set(node.path(), data);
    return seen.thenCombine(clock, (found, changed) -> judge(own, link, marker, found, changed))
        .thenCompose(state -> state);
  }

  private CompletionStage<State> judge(
      OwnClaim own, Link link, String marker, Reply<Data> found, Reply<Stat> changed) {
    if (found.isAbsent() || !changed.isOk()) {
      // the caller lists again, and hears of other trouble from that
      return CompletableFuture.completedFuture(State.FREE);
    }
    Optional<KeptLock> kept =
        found.isOk() ? NodeData.readKept(found.get().bytes()) : Optional.empty();
    long left =
        kept.map(known -> known.untilMillis() - changed.get().getMtime()).orElse(UNREADABLE_MILLIS);
    if (left > 0) {
      runtime.scheduler().schedule(() -> events.lookAgain(own.claim.id()), left * 1_000_000L);
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
      long until = node.stat().getCtime() + own.waitedMillis() + keepFor.toMillis();
      long left = until - changed.get().getMtime();
      if (left <= 0) {
        return link.delete(node.path(), -1).thenApply(deleted -> deleted);
      }
      String marker = ZooKeeperPaths.marker(ZooKeeperPaths.parent(node.path()), node.revision());
      byte[] data = NodeData.write(new KeptLock(until, node.revision()));
      return link.multi(
              Op.create(marker, data, clients.acl(), CreateMode.PERSISTENT),
              Op.delete(node.path(), -1))
          .thenApply(reply -> {
            if (reply.isOk()) {
              cleanLater(marker, own, left);
            }
            return reply;
          });
    });
  }

  /** A marker that nobody comes upon would stay for ever: its maker takes it away, if it still runs then. */
  private void cleanLater(String marker, OwnClaim own, long leftMillis) {
    runtime
        .scheduler()
        .schedule(
            () -> {
              Link link = own.session.link();
              if (link != null) {
                Link.unasked(link.delete(marker, -1));
              }
            },
            leftMillis * 1_000_000L + LATER_NANOS);
  }
}
