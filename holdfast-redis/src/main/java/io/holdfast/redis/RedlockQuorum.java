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
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Which nodes are connected, and to which servers. The engine hears of a disturbance when there is no majority of servers,
 * and of its end.
 *
 * <p>Connecting is done when a majority is. A node that was not there at that time is asked again until it is; what
 * breaks later is the business of its {@link RedisLink}. Two names may lead to one server for a while, or for good: it has
 * one vote all the same ({@link RedlockVoters}). One of the two connections is then opened again from time to time, since
 * a connection goes on where it began, though its name may lead elsewhere by now.
 */
final class RedlockQuorum {
  private static final long AGAIN_NANOS = 1_000_000_000L;
  private static final long SOON_NANOS = 1_000_000_000L;
  private static final long LATER_NANOS = 5_000_000_000L;
  private static final int DOUBLINGS = 3;
  private static final System.Logger LOG = System.getLogger("io.holdfast.redis");

  private final String store;
  private final StoreRuntime runtime;
  private final StoreEvents events;
  private final IntConsumer back;
  private final ReentrantLock lock = new ReentrantLock();
  private final boolean[] up;

  /** Which server each node's last connection leads to; null before the first. */
  private final @Nullable String[] servers;

  private final Set<Integer> arrived = ConcurrentHashMap.newKeySet();
  private final Set<Integer> refused = ConcurrentHashMap.newKeySet();
  private volatile List<RedlockServer> nodes = List.of();
  private boolean parting;

  /** The node whose connection was opened again last because it led to another node's server. */
  private int parted = -1;

  /** How often that was so in a row. */
  private int partings;

  private volatile boolean connected;
  private volatile boolean closed;

  /**
   * Begins, with nothing connected.
   *
   * @param back is told of each node that can be reached, or can be reached again
   */
  RedlockQuorum(
      String store, StoreRuntime runtime, StoreEvents events, int nodes, IntConsumer back) {
    this.store = store;
    this.runtime = runtime;
    this.events = events;
    this.back = back;
    this.up = new boolean[nodes];
    this.servers = new @Nullable String[nodes];
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
        look(node);
      }

      @Override
      public void restored() {
        look(node);
        back.accept(node);
      }

      @Override
      public void lost(ClaimId claim, LossReason reason) {
        throw new IllegalStateException("a node alone loses nothing");
      }
    };
  }

  /** Sees whether a node is connected: what was told of it may be overtaken by what came after it. */
  private void look(int node) {
    boolean before;
    boolean after;
    boolean part;
    lock.lock();
    try {
      before = isMajority();
      up[node] = nodes.get(node).link().node().isUp();
      after = isMajority();
      part = connected && !closed && !parting && sharing(node) >= 0;
      parting |= part;
    } finally {
      lock.unlock();
    }
    if (before && !after) {
      events.disturbed();
    } else if (!before && after && connected) {
      events.restored();
    }
    if (part) {
      partIn(SOON_NANOS);
    }
  }

  private boolean isMajority() {
    Set<String> distinct = new HashSet<>();
    for (int i = 0; i < up.length; i++) {
      String server = servers[i];
      if (up[i] && server != null) {
        distinct.add(server);
      }
    }
    return distinct.size() > up.length / 2;
  }

  /** Returns another node that is connected to the same server; -1 if there is none. */
  private int sharing(int node) {
    for (int i = 0; i < up.length; i++) {
      if (i != node && up[i] && up[node] && Objects.equals(servers[i], servers[node])) {
        return i;
      }
    }
    return -1;
  }

  /** A node's new connection leads to a server; it is not up yet. */
  void leads(int node, String server) {
    boolean isOther;
    lock.lock();
    try {
      String former = servers[node];
      isOther = former != null && !former.equals(server);
      servers[node] = server;
    } finally {
      lock.unlock();
    }
    nodes.get(node).leadsTo(server);
    if (isOther) {
      nodes.get(node).link().subscribeAgain();
    }
  }

  private void partIn(long atLeastNanos) {
    long pause = atLeastNanos + (long) (runtime.random().nextDouble() * atLeastNanos);
    runtime.scheduler().schedule(this::part, pause);
  }

  /**
   * Of the connections that share a server, one is opened again, and the next time another one: each of them may be the one
   * whose name leads elsewhere by now. The server keeps its vote through those that are left alone.
   */
  private void part() {
    int one = -1;
    int other = -1;
    int times;
    lock.lock();
    try {
      for (int i = 1; i <= up.length && other < 0; i++) {
        one = (parted + i + up.length) % up.length;
        other = sharing(one);
      }
      parting = other >= 0 && !closed;
      parted = parting ? one : parted;
      times = parting ? partings++ : 0;
      partings = parting ? partings : 0;
    } finally {
      lock.unlock();
    }
    if (other < 0 || closed) {
      return;
    }
    if (times == 0) {
      LOG.log(System.Logger.Level.WARNING, "{0}: {1}", store, same(one, other));
    }
    nodes.get(one).link().node().replace();
    partIn(times == 0 ? SOON_NANOS : LATER_NANOS << Math.min(times - 1, DOUBLINGS));
  }

  private String same(int one, int other) {
    return nodes.get(one).address() + " and " + nodes.get(other).address()
        + " are one and the same server, which has one vote";
  }

  /** Connects to all nodes; completes when a majority is there, fails when that is not possible. */
  CompletionStage<@Nullable Void> connect(List<RedlockServer> all) {
    nodes = all;
    CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();
    List<Throwable> failures = new ArrayList<>();
    AtomicInteger pending = new AtomicInteger(all.size());
    for (int i = 0; i < all.size(); i++) {
      int node = i;
      all.get(i).connect().whenComplete((there, failure) -> {
        if (failure == null) {
          arrived(node);
        }
        settle(
            ready,
            failures,
            failure == null ? null : RedlockServer.unwrap(failure),
            pending.decrementAndGet());
      });
    }
    return ready;
  }

  private void settle(
      CompletableFuture<@Nullable Void> ready,
      List<Throwable> failures,
      @Nullable Throwable trouble,
      int pending) {
    boolean enough;
    boolean first;
    boolean hopeless;
    lock.lock();
    try {
      if (trouble != null) {
        failures.add(trouble);
      }
      enough = isMajority();
      first = enough && !connected;
      connected |= enough;
      parting |= first;
      hopeless = pending == 0 || failures.size() > nodes.size() / 2;
    } finally {
      lock.unlock();
    }
    if (first) {
      for (int i = 0; i < nodes.size(); i++) {
        seek(i);
      }
      // two may be at one server already
      partIn(SOON_NANOS);
    }
    if (trouble instanceof ConfigurationException) {
      ready.completeExceptionally(trouble);
    } else if (enough) {
      ready.complete(null);
    } else if (hopeless) {
      ready.completeExceptionally(tooFew(failures));
    }
  }

  private RuntimeException tooFew(List<Throwable> failures) {
    ConfigurationException same = sameServer();
    if (same != null) {
      return same;
    }
    if (failures.isEmpty()) {
      // they were there, and have gone again
      return RedisErrors.down(store);
    }
    Throwable first = failures.get(0);
    Reason reason = first instanceof StoreException known ? known.reason() : Reason.UNREACHABLE;
    return new StoreException(
        store + ": no majority of the nodes can be used: " + first.getMessage(),
        reason,
        true,
        first);
  }

  /** Returns what is wrong if enough nodes are there, but too few servers; null if that is not it. */
  private @Nullable ConfigurationException sameServer() {
    lock.lock();
    try {
      int there = 0;
      int one = -1;
      for (int i = 0; i < up.length; i++) {
        there += up[i] ? 1 : 0;
        one = sharing(i) >= 0 ? i : one;
      }
      return one < 0 || there <= up.length / 2
          ? null
          : new ConfigurationException(
              same(one, sharing(one)) + "; each node must be a server of its own", store, null);
    } finally {
      lock.unlock();
    }
  }

  private void arrived(int node) {
    arrived.add(node);
    look(node);
  }

  /** From the first majority on, a node that was never there is asked again and again, whatever becomes of others. */
  private void seek(int node) {
    long pause = AGAIN_NANOS + (long) (runtime.random().nextDouble() * AGAIN_NANOS);
    runtime.scheduler().schedule(() -> seekNow(node), pause);
  }

  private void seekNow(int node) {
    if (!closed && !arrived.contains(node)) {
      nodes.get(node).connect().whenComplete((up, failure) -> late(node, failure));
    }
  }

  private void late(int node, @Nullable Throwable failure) {
    if (failure == null) {
      arrived(node);
      return;
    }
    seek(node);
    Throwable trouble = RedlockServer.unwrap(failure);
    if (trouble instanceof ConfigurationException && refused.add(node)) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} is not used until that changes: {1}",
          nodes.get(node).address(),
          trouble.getMessage());
    }
  }

  void close() {
    closed = true;
  }
}
