// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One script on its way to the node that has its keys. It is sent again only after a node has refused it before running
 * it, or when it was not sent at all; and only for a part of the time that the engine waits for it, so that the engine
 * hears that it was not applied.
 */
final class ClusterRequest<T> {
  private static final long SHORTEST_PAUSE_NANOS = 5_000_000L;
  private static final int DOUBLINGS = 5;

  private final RedisCluster cluster;
  private final StoreRuntime runtime;
  private final int slot;
  private final Sender<T> sender;
  private final long giveUpNanos;
  private final CompletableFuture<T> answer = new CompletableFuture<>();
  private int refusals;

  /** Sends the script to a node, which may only be taking over its keys. */
  interface Sender<T> {
    CompletionStage<T> send(RedisNode node, boolean asking);
  }

  ClusterRequest(RedisCluster cluster, StoreRuntime runtime, int slot, Sender<T> sender) {
    this.cluster = cluster;
    this.runtime = runtime;
    this.slot = slot;
    this.sender = sender;
    this.giveUpNanos = runtime.ticker().nanos()
        + runtime.requestTimeout().multipliedBy(3).dividedBy(4).toNanos();
  }

  CompletionStage<T> start() {
    send();
    return answer;
  }

  private void send() {
    RedisNode node = cluster.owner(slot);
    if (node == null) {
      cluster.lookSoon();
      later(new StoreException(
          cluster.describe() + ": no node of the cluster has slot " + slot,
          Reason.UNREACHABLE,
          true,
          null));
    } else {
      send(node, false);
    }
  }

  private void send(RedisNode node, boolean asking) {
    sender.send(node, asking).whenComplete((value, failure) -> {
      if (failure == null) {
        answer.complete(value);
      } else {
        refused(node, failure);
      }
    });
  }

  private void refused(RedisNode node, Throwable failure) {
    if (!(failure instanceof StoreException known)
        || !known.notApplied()
        || known.reason() != Reason.UNREACHABLE) {
      answer.completeExceptionally(failure);
      return;
    }
    String[] said = RedisErrors.redirection(known);
    if (said == null) {
      // CLUSTERDOWN, TRYAGAIN, READONLY, LOADING, or no connection
      cluster.lookSoon();
      later(known);
    } else if (said[0].equals("MOVED")) {
      again(cluster.moved(slot, said[2], node), false, known);
    } else {
      again(cluster.takingOver(said[2], node), true, known);
    }
  }

  /** The first redirection is followed at once; nodes that send each other round and round are not. */
  private void again(RedisNode node, boolean asking, StoreException last) {
    if (refusals == 0 && node.isUp()) {
      refusals++;
      send(node, asking);
    } else if (asking) {
      later(last, () -> send(node, true));
    } else {
      later(last);
    }
  }

  private void later(StoreException last) {
    later(last, this::send);
  }

  private void later(StoreException last, Runnable next) {
    long pause = SHORTEST_PAUSE_NANOS << Math.min(refusals++, DOUBLINGS);
    if (runtime.ticker().nanos() + pause - giveUpNanos > 0) {
      answer.completeExceptionally(last);
    } else {
      runtime.scheduler().schedule(next, pause);
    }
  }
}
