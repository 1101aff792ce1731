// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.ConfigurationException;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Which nodes are connected. The engine hears of a disturbance when there is no majority, and of its end.
 *
 * <p>Connecting is done when a majority is. A node that was not there at that time is asked again until it is; what
 * breaks later is the business of its {@link RedisLink}.
 */
final class RedlockQuorum {
  private static final long AGAIN_NANOS = 1_000_000_000L;
  private static final System.Logger LOG = System.getLogger("io.holdfast.redis");

  private final String store;
  private final StoreRuntime runtime;
  private final StoreEvents events;
  private final ReentrantLock lock = new ReentrantLock();
  private final boolean[] up;
  private final Map<String, Integer> servers = new HashMap<>();
  private final Set<Integer> arrived = ConcurrentHashMap.newKeySet();
  private volatile boolean connected;
  private volatile boolean closed;

  RedlockQuorum(String store, StoreRuntime runtime, StoreEvents events, int nodes) {
    this.store = store;
    this.runtime = runtime;
    this.events = events;
    this.up = new boolean[nodes];
  }

  /** Returns what one node's link tells. */
  StoreEvents of(int node) {
    return new StoreEvents() {
      @Override
      public void granted(ClaimId claim, Grant grant) {
        throw new IllegalStateException("a node alone grants nothing");
      }

      @Override
      public void lookAgain(ClaimId claim) {
        events.lookAgain(claim);
      }

      @Override
      public void lookAgainAll() {
        events.lookAgainAll();
      }

      @Override
      public void disturbed() {
        set(node, false);
      }

      @Override
      public void restored() {
        set(node, true);
      }

      @Override
      public void lost(ClaimId claim, LossReason reason) {
        throw new IllegalStateException("a node alone loses nothing");
      }
    };
  }

  private void set(int node, boolean isUp) {
    boolean before;
    boolean after;
    lock.lock();
    try {
      before = isMajority();
      up[node] = isUp;
      after = isMajority();
    } finally {
      lock.unlock();
    }
    if (before && !after) {
      events.disturbed();
    } else if (!before && after && connected) {
      events.restored();
    }
  }

  private boolean isMajority() {
    int count = 0;
    for (boolean each : up) {
      count += each ? 1 : 0;
    }
    return count > up.length / 2;
  }

  /** Connects to all nodes; completes when a majority is there, fails when that is not possible. */
  CompletionStage<@Nullable Void> connect(List<RedlockServer> nodes) {
    CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      int node = i;
      nodes.get(i).connect().whenComplete((found, failure) -> {
        Throwable trouble = failure == null ? arrived(node, nodes, found.id()) : unwrap(failure);
        settle(ready, failures, trouble, nodes);
      });
    }
    return ready;
  }

  private void settle(
      CompletableFuture<@Nullable Void> ready,
      List<Throwable> failures,
      @Nullable Throwable trouble,
      List<RedlockServer> nodes) {
    boolean enough;
    boolean hopeless;
    boolean first;
    lock.lock();
    try {
      if (trouble != null) {
        failures.add(trouble);
      }
      enough = isMajority();
      hopeless = failures.size() >= nodes.size() / 2 + 1;
      first = enough && !connected;
      connected |= enough;
    } finally {
      lock.unlock();
    }
    if (first) {
      seek(nodes);
    }
    if (trouble instanceof ConfigurationException) {
      ready.completeExceptionally(trouble);
    } else if (enough) {
      ready.complete(null);
    } else if (hopeless) {
      ready.completeExceptionally(tooFew(failures));
    }
  }

  private StoreException tooFew(List<Throwable> failures) {
    Throwable first = failures.get(0);
    Reason reason = first instanceof StoreException known ? known.reason() : Reason.UNREACHABLE;
    return new StoreException(
        store + ": no majority of the nodes can be used; " + first.getMessage(),
        reason,
        true,
        first);
  }

  /** A node is there; returns what is wrong with it, or null. */
  private @Nullable Throwable arrived(int node, List<RedlockServer> nodes, String id) {
    String run = id.substring(0, id.lastIndexOf('-'));
    Integer same;
    lock.lock();
    try {
      same = servers.putIfAbsent(run, node);
    } finally {
      lock.unlock();
    }
    if (same != null && same != node) {
      return new ConfigurationException(
          nodes.get(same).address() + " and " + nodes.get(node).address()
              + " are one and the same server; each node must be a server of its own",
          store,
          null);
    }
    nodes.get(node).admit();
    arrived.add(node);
    set(node, true);
    return null;
  }

  /** From the first majority on, nodes that were never there are asked again and again. */
  private void seek(List<RedlockServer> nodes) {
    long pause = AGAIN_NANOS + (long) (runtime.random().nextDouble() * AGAIN_NANOS);
    runtime.scheduler().schedule(() -> seekNow(nodes), pause);
  }

  private void seekNow(List<RedlockServer> nodes) {
    List<CompletableFuture<?>> asked = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      int node = i;
      if (!closed && !arrived.contains(i)) {
        asked.add(nodes
            .get(i)
            .connect()
            .handle((found, failure) -> late(node, nodes, found, failure))
            .toCompletableFuture());
      }
    }
    if (!asked.isEmpty()) {
      CompletionStage<?> all = CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new));
      all.whenComplete((done, never) -> seek(nodes));
    }
  }

  private @Nullable Throwable late(
      int node,
      List<RedlockServer> nodes,
      RedlockServer.@Nullable Found found,
      @Nullable Throwable failure) {
    Throwable trouble =
        found != null ? arrived(node, nodes, found.id()) : failure == null ? null : unwrap(failure);
    if (trouble instanceof ConfigurationException) {
      // not asked again, and said once
      arrived.add(node);
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} is not used: {1}",
          nodes.get(node).address(),
          trouble.getMessage());
    }
    return trouble;
  }

  private static Throwable unwrap(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }

  void close() {
    closed = true;
  }
}
