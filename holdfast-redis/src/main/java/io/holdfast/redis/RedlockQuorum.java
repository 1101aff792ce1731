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
import java.util.HashSet;
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
 * breaks later is the business of its {@link RedisLink}. Each connection is to a server of its own: a name may lead to
 * another node's server, and that one's vote must not count twice.
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
  private final Set<Integer> refused = new HashSet<>();
  private final Set<Integer> arrived = ConcurrentHashMap.newKeySet();
  private volatile List<RedlockServer> nodes = List.of();
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
  CompletionStage<@Nullable Void> connect(List<RedlockServer> all) {
    nodes = all;
    CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      int node = i;
      all.get(i).connect().whenComplete((up, failure) -> {
        if (failure == null) {
          arrived(node);
        }
        settle(ready, failures, failure == null ? null : unwrap(failure));
      });
    }
    return ready;
  }

  private void settle(
      CompletableFuture<@Nullable Void> ready,
      List<Throwable> failures,
      @Nullable Throwable trouble) {
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
      seek();
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

  private void arrived(int node) {
    arrived.add(node);
    set(node, true);
  }

  /**
   * A node's new connection leads to a server; where its last one led to is free for another node now. Not before: a node
   * that is not connected just now keeps its server until it is again.
   *
   * @param run which server it is
   * @throws ConfigurationException if it is another node's server
   */
  void admit(int node, String run) {
    Integer same;
    boolean isNews;
    lock.lock();
    try {
      servers.values().removeIf(each -> each == node);
      same = servers.putIfAbsent(run, node);
      isNews = same != null && refused.add(node);
      if (same == null) {
        refused.remove(node);
      }
    } finally {
      lock.unlock();
    }
    if (same == null) {
      return;
    }
    ConfigurationException refusal = new ConfigurationException(
        nodes.get(same).address() + " and " + nodes.get(node).address()
            + " are one and the same server; each node must be a server of its own",
        store,
        null);
    if (isNews && connected) {
      warn(node, refusal);
      // it may be the other one whose name has led astray: its next connection shows
      nodes.get(same).link().node().replace();
    }
    throw refusal;
  }

  private void warn(int node, Throwable trouble) {
    LOG.log(
        System.Logger.Level.WARNING,
        "{0} is not used until that changes: {1}",
        nodes.get(node).address(),
        trouble.getMessage());
  }

  /** From the first majority on, nodes that were never there are asked again and again. */
  private void seek() {
    long pause = AGAIN_NANOS + (long) (runtime.random().nextDouble() * AGAIN_NANOS);
    runtime.scheduler().schedule(this::seekNow, pause);
  }

  private void seekNow() {
    List<CompletableFuture<?>> asked = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      int node = i;
      if (!closed && !arrived.contains(i)) {
        asked.add(nodes
            .get(i)
            .connect()
            .handle((up, failure) -> late(node, failure))
            .toCompletableFuture());
      }
    }
    if (!asked.isEmpty()) {
      CompletionStage<?> all = CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new));
      all.whenComplete((done, never) -> seek());
    }
  }

  private boolean late(int node, @Nullable Throwable failure) {
    if (failure == null) {
      arrived(node);
      return true;
    }
    Throwable trouble = unwrap(failure);
    if (trouble instanceof ConfigurationException && isFirst(node)) {
      warn(node, trouble);
    }
    return false;
  }

  private boolean isFirst(int node) {
    lock.lock();
    try {
      return refused.add(node);
    } finally {
      lock.unlock();
    }
  }

  private static Throwable unwrap(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }

  void close() {
    closed = true;
  }
}
