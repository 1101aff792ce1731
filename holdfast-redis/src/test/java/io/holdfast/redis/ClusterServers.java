// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import io.lettuce.core.MigrateArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode.NodeFlag;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** A cluster of three nodes with a third of the slots each, and a replica of each. */
final class ClusterServers implements AutoCloseable {
  private static final int PRIMARIES = 3;
  private static final int NODES = 2 * PRIMARIES;

  private final List<RedisServer> servers = new ArrayList<>();
  private final List<Integer> busPorts = new ArrayList<>();
  private final Duration nodeTimeout;

  /**
   * Starts them, and waits until they are one cluster.
   *
   * @param nodeTimeout how long a node may be silent before its replica takes over
   */
  ClusterServers(Duration nodeTimeout) {
    this.nodeTimeout = nodeTimeout;
    for (int i = 0; i < NODES; i++) {
      start(i < PRIMARIES ? "yes" : "no");
    }
    join();
    awaitWhole();
  }

  private RedisServer start(String appendOnly) {
    int busPort = ServerProcess.freePort();
    busPorts.add(busPort);
    RedisServer server = RedisServer.with(
        "--cluster-enabled",
        "yes",
        "--cluster-port",
        Integer.toString(busPort),
        "--cluster-node-timeout",
        Long.toString(nodeTimeout.toMillis()),
        "--repl-diskless-sync-delay",
        "0",
        "--appendonly",
        appendOnly,
        "--appendfsync",
        "always");
    servers.add(server);
    return server;
  }

  /** Starts one more node, which has no slots, and waits until all know it. */
  RedisServer another() {
    RedisServer server = start("no");
    meet(servers.size() - 1);
    for (RedisServer each : servers) {
      Await.until("all know all", () -> says(each, "cluster_known_nodes:" + servers.size()));
    }
    awaitWhole();
    return server;
  }

  private void join() {
    int share = ClusterMap.SLOTS / PRIMARIES + 1;
    for (int i = 0; i < NODES; i++) {
      int epoch = i + 1;
      servers.get(i).call(redis -> redis.clusterSetConfigEpoch(epoch));
    }
    for (int i = 0; i < PRIMARIES; i++) {
      int first = i * share;
      int[] slots =
          IntStream.range(first, Math.min(first + share, ClusterMap.SLOTS)).toArray();
      servers.get(i).call(redis -> redis.clusterAddSlots(slots));
    }
    for (int i = 1; i < NODES; i++) {
      meet(i);
    }
    for (RedisServer each : servers) {
      Await.until("all know all", () -> says(each, "cluster_known_nodes:" + NODES));
    }
    for (int i = PRIMARIES; i < NODES; i++) {
      String primary = id(servers.get(i - PRIMARIES));
      RedisServer replica = servers.get(i);
      Await.until("it knows its primary by name", () -> knows(replica, primary));
      replica.call(redis -> redis.clusterReplicate(primary));
    }
  }

  private void meet(int node) {
    servers
        .get(0)
        .call(redis -> redis.dispatch(
            CommandType.CLUSTER,
            new StatusOutput<>(StringCodec.UTF8),
            new CommandArgs<>(StringCodec.UTF8)
                .add("MEET")
                .add("127.0.0.1")
                .add(servers.get(node).port())
                .add(busPorts.get(node))));
  }

  private static boolean knows(RedisServer server, String id) {
    return server.says(redis -> redis.clusterNodes().contains(id));
  }

  static String id(RedisServer server) {
    return server.call(RedisCommands::clusterMyId);
  }

  private static boolean says(RedisServer server, String what) {
    return server.says(redis -> redis.clusterInfo().contains(what));
  }

  /** Waits until all slots are served, and every primary has a replica that has everything. */
  void awaitWhole() {
    for (RedisServer each : servers) {
      Await.until("all slots are served", () -> says(each, "cluster_state:ok"));
      Await.until(
          "all know who is whose replica",
          () -> each.says(redis -> redis
                  .clusterNodes()
                  .lines()
                  .filter(line -> line.contains("slave"))
                  .count()
              == PRIMARIES));
      Await.until(
          "the replicas have everything",
          () -> each.says(redis -> {
            String replication = redis.info("replication");
            return replication.contains("role:master")
                ? replication.contains("connected_slaves:1") || slots(redis).isEmpty()
                : replication.contains("master_link_status:up");
          }));
    }
    for (RedisServer each : servers) {
      // it counts as connected a little before it is sent anything
      Await.until(
          "the replicas are sent what is written", () -> each.says(ClusterServers::isFollowed));
    }
  }

  private static boolean isFollowed(RedisCommands<String, String> redis) {
    List<Integer> mine = slots(redis);
    if (mine.isEmpty() || redis.info("replication").contains("role:slave")) {
      return true;
    }
    String key = IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> "marker" + i)
        .filter(name -> mine.contains(ClusterMap.slot(RedisKeys.ascii(name))))
        .findFirst()
        .orElseThrow();
    redis.set(key, "");
    redis.del(key);
    return redis.waitForReplication(1, 1000) == 1;
  }

  /** Returns the slots of the node that is asked. */
  private static List<Integer> slots(RedisCommands<String, String> redis) {
    return ClusterPartitionParser.parse(redis.clusterNodes()).stream()
        .filter(each -> each.is(NodeFlag.MYSELF))
        .findFirst()
        .orElseThrow()
        .getSlots();
  }

  String uri() {
    return "redis-cluster://127.0.0.1:" + servers.get(0).port() + ",127.0.0.1:"
        + servers.get(1).port();
  }

  List<RedisServer> servers() {
    return servers;
  }

  List<RedisServer> primaries() {
    return servers.stream()
        .filter(each -> each.call(redis -> redis.info("replication")).contains("role:master"))
        .toList();
  }

  /** Returns the node that has the slot of a lock. */
  RedisServer primary(String lock) {
    int port = portOf(lock, servers.get(0));
    return servers.stream().filter(each -> each.port() == port).findFirst().orElseThrow();
  }

  /** Returns the server that takes over from another one. */
  RedisServer replicaOf(RedisServer primary) {
    String line = "master_port:" + primary.port();
    return servers.stream()
        .filter(each -> each.call(redis -> redis.info("replication")).contains(line))
        .findFirst()
        .orElseThrow();
  }

  /** Returns the port of the node that has the slot of a lock, as another one says. */
  static int portOf(String lock, RedisServer said) {
    String nodes = said.call(RedisCommands::clusterNodes);
    return ClusterPartitionParser.parse(nodes).stream()
        .filter(each -> each.hasSlot(slot(lock)))
        .findFirst()
        .orElseThrow()
        .getUri()
        .getPort();
  }

  static int slot(String lock) {
    return ClusterMap.slot(RedisKeys.ascii("holdfast:{" + lock + "}"));
  }

  /** Begins to move the slot of a lock. */
  void beginMove(String lock, RedisServer from, RedisServer to) {
    String source = id(from);
    String target = id(to);
    to.call(redis -> redis.clusterSetSlotImporting(slot(lock), source));
    from.call(redis -> redis.clusterSetSlotMigrating(slot(lock), target));
  }

  /** Moves the keys that are there now. */
  void moveKeys(String lock, RedisServer from, RedisServer to) {
    List<String> keys = from.call(redis -> redis.clusterGetKeysInSlot(slot(lock), 1000));
    from.call(
        redis -> redis.migrate("127.0.0.1", to.port(), 0, 5000, MigrateArgs.Builder.keys(keys)));
  }

  /** Calls the move off: the slot stays where it was. Nobody may ask meanwhile. */
  void callOffMove(String lock, RedisServer from, RedisServer to) {
    from.call(redis -> redis.clusterSetSlotStable(slot(lock)));
    moveKeys(lock, to, from);
    to.call(redis -> redis.clusterSetSlotStable(slot(lock)));
  }

  /** Ends the move: the slot is the other node's from now on. */
  void endMove(String lock, RedisServer from, RedisServer to) {
    String target = id(to);
    to.call(redis -> redis.clusterSetSlotNode(slot(lock), target));
    from.call(redis -> redis.clusterSetSlotNode(slot(lock), target));
  }

  @Override
  public void close() {
    servers.forEach(RedisServer::close);
  }
}
