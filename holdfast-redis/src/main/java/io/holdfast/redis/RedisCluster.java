// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.redis.ClusterMap.Endpoint;
import io.holdfast.redis.RedisReplicas.Confirmed;
import io.holdfast.spi.Claim;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of a cluster that have slots, each with a connection for commands, and what is listened to there ({@link
 * ClusterMessages}).
 *
 * <pre>
 *   request -> slot -> {@link ClusterMap} -> {@link RedisNode} -> answer
 *                        ^                       | MOVED, ASK, TRYAGAIN, CLUSTERDOWN, no connection
 *                        +---- scout ------------+ {@link ClusterRequest}: again, until its time is up
 * </pre>
 *
 * <p>{@link ClusterScout} keeps the map. A wrong one costs a redirection, never more, since a node refuses keys that it
 * does not have.
 */
final class RedisCluster implements RedisRoute {
  /** For how many request times a node is kept that has no slots, after it was last asked for the keys of one that moves. */
  private static final int LINGERS = 5;

  private final String store;
  private final StoreRuntime runtime;
  private final StoreEvents events;
  private final ClusterClient client;
  private final RedisKeys keys;
  private final RedisReplicas.Rule replicas;
  private final ClusterMessages messages;
  private final Map<Endpoint, RedisNode> nodes = new ConcurrentHashMap<>();

  /**
   * When a node was last asked because it is taking over a slot; it may never come to have one. Changed with {@link
   * #nodes}.
   */
  private final Map<Endpoint, Long> asked = new ConcurrentHashMap<>();

  private final ClusterScout scout;
  private volatile ClusterMap map = ClusterMap.EMPTY;
  private volatile boolean closed;

  RedisCluster(
      String store,
      StoreRuntime runtime,
      StoreEvents events,
      ClusterClient client,
      RedisKeys keys,
      RedisReplicas.Rule replicas,
      Consumer<byte[]> receiver) {
    this.store = store;
    this.runtime = runtime;
    this.events = events;
    this.client = client;
    this.keys = keys;
    this.replicas = replicas;
    this.scout = new ClusterScout(store, runtime, client, this);
    this.messages = new ClusterMessages(runtime, events, client, this, keys, receiver);
  }

  List<Endpoint> shuffledOwners() {
    return scout.shuffled(map.owners());
  }

  /**
   * A node that is down, or silent for half the time of a request, does not keep the client from the others; one that
   * refuses does.
   */
  @Override
  public CompletionStage<@Nullable Void> connect() {
    CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();
    client.prepare().thenCompose(known -> firstLook()).whenComplete((found, failure) -> {
      if (failure != null) {
        ready.completeExceptionally(RedisErrors.unconnected(store, failure));
        return;
      }
      if (found.owners().isEmpty()) {
        ready.completeExceptionally(new StoreException(
            store + ": no node of the cluster has any slots", Reason.UNREACHABLE, true, null));
        return;
      }
      adopt(found);
      List<CompletableFuture<?>> opened = new ArrayList<>();
      for (Endpoint each : found.owners()) {
        RedisNode node = node(each);
        opened.add(RedisErrors.connecting(node.describe(), node.open()).toCompletableFuture());
      }
      CompletionStage<?> settled =
          CompletableFuture.allOf(opened.toArray(CompletableFuture[]::new));
      settled.whenComplete((all, down) -> listenOr(ready, down));
      runtime
          .scheduler()
          .schedule(
              () -> listenOr(ready, null), runtime.requestTimeout().dividedBy(2).toNanos());
    });
    return ready;
  }

  private CompletionStage<ClusterMap> firstLook() {
    scout.lookRegularly();
    return scout.read();
  }

  private void listenOr(CompletableFuture<@Nullable Void> ready, @Nullable Throwable down) {
    if (down != null) {
      RuntimeException failure = RedisErrors.unconnected(store, down);
      boolean mayPass =
          failure instanceof StoreException known && known.reason() == Reason.UNREACHABLE;
      if (!mayPass || nodes().stream().noneMatch(RedisNode::isUp)) {
        ready.completeExceptionally(failure);
        return;
      }
      lookSoon();
    } else if (nodes().stream().noneMatch(RedisNode::isUp)) {
      return;
    }
    messages.open().whenComplete((subscribed, failure) -> {
      if (failure == null) {
        ready.complete(null);
      } else {
        ready.completeExceptionally(RedisErrors.unconnected(store, failure));
      }
    });
  }

  /** The map may be wrong: it is looked at again. */
  void lookSoon() {
    scout.lookSoon();
  }

  ClusterMap map() {
    return map;
  }

  boolean isWell() {
    return map.isComplete() && map.owners().stream().allMatch(each -> node(each).isUp());
  }

  /** Goes by another map from now on. */
  void adopt(ClusterMap found) {
    if (closed) {
      return;
    }
    boolean atFirst = map.owners().isEmpty();
    map = found;
    Set<Endpoint> owners = found.owners();
    for (Endpoint each : owners) {
      RedisNode node = node(each);
      if (!node.isUp() && !atFirst) {
        var unused = node.open().thenAccept(up -> everythingAgain());
      }
    }
    asked.keySet().removeAll(owners);
    Set<Endpoint> others = new HashSet<>(nodes.keySet());
    others.removeAll(owners);
    for (Endpoint each : others) {
      letGo(each);
    }
    messages.adopt(owners);
  }

  /**
   * Closes the connection to a node without slots: what is under way there fails, and is asked again where the keys
   * are now.
   */
  private void letGo(Endpoint endpoint) {
    List<RedisNode> left = new ArrayList<>();
    nodes.computeIfPresent(endpoint, (same, node) -> {
      if (wasAskedLately(same)) {
        return node;
      }
      asked.remove(same);
      left.add(node);
      return null;
    });
    for (RedisNode node : left) {
      var unused = node.close();
    }
  }

  private boolean wasAskedLately(Endpoint endpoint) {
    Long last = asked.get(endpoint);
    return last != null
        && runtime.ticker().nanos() - last < runtime.requestTimeout().toNanos() * LINGERS;
  }

  /** Holds elsewhere are at risk for a moment only: they are renewed at once. */
  private void everythingAgain() {
    events.restored();
  }

  RedisNode node(Endpoint endpoint) {
    RedisNode node = nodes.computeIfAbsent(endpoint, this::make);
    if (closed) {
      // close() may have missed this one
      var unused = node.close();
    }
    return node;
  }

  private RedisNode make(Endpoint endpoint) {
    return new RedisNode(
        store + " (" + endpoint + ")",
        runtime,
        RedisOpener.of(client.isLent(), () -> client.commands(endpoint)),
        FirstQuestion.check(() -> keysOfNothing(endpoint), keys.channel()),
        new RedisClock(runtime.ticker()),
        replicas,
        new RedisNode.Listener() {
          @Override
          public void up() {
            everythingAgain();
          }

          @Override
          public void down() {
            events.disturbed();
            everythingAgain();
            lookSoon();
          }

          @Override
          public void silent() {
            lookSoon();
          }

          @Override
          public void astray() {
            node(endpoint).replace();
            lookSoon();
          }
        });
  }

  /** In any of the node's slots, if it has any: one that is being moved refuses what it does not know. */
  private byte @Nullable [][] keysOfNothing(Endpoint endpoint) {
    if (!map.owners().contains(endpoint)) {
      return null;
    }
    long from = (long) (runtime.random().nextDouble() * ClusterMap.SLOTS);
    return keys.ofNothing(from, key -> endpoint.equals(map.owner(ClusterMap.slot(key))));
  }

  @Override
  public CompletionStage<List<Object>> run(RedisScript script, byte[][] of, byte[]... arguments) {
    ClusterRequest.Sender<List<Object>> sender = (node, asking) ->
        asking ? node.runAsking(script, of, arguments) : node.run(script, of, arguments);
    return new ClusterRequest<>(this, runtime, ClusterMap.slot(of[0]), sender).start();
  }

  @Override
  public CompletionStage<Confirmed> runConfirmed(
      Predicate<List<Object>> counts, RedisScript script, byte[][] of, byte[]... arguments) {
    ClusterRequest.Sender<Confirmed> sender = (node, asking) -> {
      RedisReplicas confirming =
          Objects.requireNonNull(node.replicas(), "no replicas are asked for");
      return asking
          ? confirming.runAsking(counts, script, of, arguments)
          : confirming.run(counts, script, of, arguments);
    };
    return new ClusterRequest<>(this, runtime, ClusterMap.slot(of[0]), sender).start();
  }

  /** Returns the node that has a slot, as far as is known; null if nobody has. */
  @Nullable
  RedisNode owner(int slot) {
    Endpoint owner = map.owner(slot);
    return owner == null ? null : node(owner);
  }

  @Override
  public @Nullable String tag(byte[] key) {
    Endpoint owner = map.owner(ClusterMap.slot(key));
    return owner == null ? null : messages.tag(owner);
  }

  /** A node has said who has the slot now. */
  RedisNode moved(int slot, String to, RedisNode said) {
    Endpoint owner = endpoint(to, said);
    // of two threads that correct it at once one may be overwritten: that costs a redirection, until the scout has looked
    map = map.with(slot, owner);
    lookSoon();
    return opened(owner);
  }

  /** A node has said who is taking over the slot. */
  RedisNode takingOver(String to, RedisNode said) {
    Endpoint endpoint = endpoint(to, said);
    nodes.compute(endpoint, (same, node) -> {
      asked.put(same, runtime.ticker().nanos());
      return node == null ? make(same) : node;
    });
    return opened(endpoint);
  }

  private RedisNode opened(Endpoint endpoint) {
    RedisNode node = node(endpoint);
    if (!node.isUp()) {
      var unused = node.open();
    }
    return node;
  }

  private Endpoint endpoint(String to, RedisNode said) {
    Endpoint from = nodes.entrySet().stream()
        .filter(each -> each.getValue().equals(said))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseGet(() -> client.seeds().iterator().next());
    return Endpoint.parse(to, from);
  }

  String describe() {
    return store;
  }

  @Override
  public Collection<List<Claim>> together(List<Claim> claims) {
    return claims.stream()
        .collect(Collectors.groupingBy(each -> ClusterMap.slot(keys.of(each.name())[0])))
        .values();
  }

  @Override
  public List<RedisNode> nodes() {
    return map.owners().stream().map(this::node).toList();
  }

  @Override
  public Instant time() {
    return nodes.values().stream()
        .filter(RedisNode::isUp)
        .map(each -> each.clock().now())
        .max(Comparator.naturalOrder())
        .orElseGet(() -> Instant.ofEpochMilli(runtime.ticker().wallMillis()));
  }

  @Override
  public void close() {
    closed = true;
    scout.close();
    List<CompletableFuture<?>> all = new ArrayList<>();
    nodes.values().forEach(each -> all.add(each.close()));
    all.add(messages.close());
    CompletionStage<?> settled = CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
    settled.whenComplete((done, failure) -> client.close());
  }
}
