// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.zookeeper;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.Tunnel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Servers of our own that make up an ensemble; each can be killed, paused and started again by itself. */
public final class ZooKeeperEnsemble implements AutoCloseable {
  private final List<ZooKeeperServer> servers = new ArrayList<>();

  /** By the two servers that it connects: from one, to the other. */
  private final Map<List<Integer>, Tunnel> tunnels = new HashMap<>();

  private ZooKeeperEnsemble(int size, boolean tunnelled, long epoch, List<String> settings) {
    List<Integer> quorumPorts = new ArrayList<>();
    List<Integer> electionPorts = new ArrayList<>();
    for (int id = 1; id <= size; id++) {
      servers.add(new ZooKeeperServer(id));
      quorumPorts.add(ServerProcess.freePort());
      electionPorts.add(ServerProcess.freePort());
    }
    for (int from = 0; from < size; from++) {
      List<String> lines = new ArrayList<>(List.of(
          "initLimit=20", "syncLimit=5", "standaloneEnabled=false", "reconfigEnabled=false"));
      for (int to = 0; to < size; to++) {
        int quorumPort = quorumPorts.get(to);
        if (tunnelled && from != to) {
          Tunnel tunnel = new Tunnel(quorumPort);
          tunnels.put(List.of(from, to), tunnel);
          quorumPort = tunnel.port();
        }
        lines.add("server." + (to + 1) + "=127.0.0.1:" + quorumPort + ":" + electionPorts.get(to));
      }
      lines.addAll(settings);
      servers.get(from).configure(lines);
    }
    if (epoch > 0) {
      servers.forEach(each -> each.epoch(epoch));
    }
    try {
      start();
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /**
   * Starts three servers.
   *
   * @param settings more lines for their configuration; those that begin with {@code -D} are options of their JVMs
   * @return an ensemble whose servers all serve
   */
  public static ZooKeeperEnsemble ofThree(String... settings) {
    return new ZooKeeperEnsemble(3, false, 0, List.of(settings));
  }

  /**
   * Starts three servers with a network between them that can be cut.
   *
   * @param settings more lines for their configuration; those that begin with {@code -D} are options of their JVMs
   * @return an ensemble whose servers all serve
   */
  public static ZooKeeperEnsemble ofThreeWithTunnels(String... settings) {
    return new ZooKeeperEnsemble(3, true, 0, List.of(settings));
  }

  /**
   * Starts an ensemble of one server that is old: transaction numbers begin with the number of the leader.
   *
   * @param leaders how many leaders it seems to have had
   * @return an ensemble that serves
   */
  public static ZooKeeperEnsemble afterLeaders(long leaders) {
    return new ZooKeeperEnsemble(1, false, leaders, List.of());
  }

  /**
   * Cuts a server off from the others, though not from its clients: until {@link #heal()} it neither follows nor leads.
   * Whom they elect meanwhile they can tell each other, so let it be one that follows.
   *
   * @param server which one
   */
  public void cutOff(ZooKeeperServer server) {
    int id = servers.indexOf(server);
    tunnels.forEach((ends, tunnel) -> {
      if (ends.contains(id)) {
        tunnel.stall();
      }
    });
  }

  /** Lets all servers reach each other again. */
  public void heal() {
    tunnels.values().forEach(Tunnel::heal);
  }

  /**
   * Returns the servers, each time in the same order.
   *
   * @return all servers, also those that do not run
   */
  public List<ZooKeeperServer> servers() {
    return List.copyOf(servers);
  }

  /**
   * Returns where they listen for clients.
   *
   * @return host and port of each, with commas between
   */
  public String addresses() {
    return servers.stream().map(ZooKeeperServer::address).collect(Collectors.joining(","));
  }

  /**
   * Returns the server that leads; waits for it.
   *
   * @return the leader
   */
  public ZooKeeperServer leader() {
    return Await.present(
        "a leader", () -> servers.stream().filter(ZooKeeperServer::leads).findFirst());
  }

  /** Starts those that do not run, and waits until all serve. */
  public void start() {
    servers.stream()
        .filter(each -> !each.process().isRunning())
        .forEach(ZooKeeperServer::startOnly);
    servers.forEach(ZooKeeperServer::awaitServing);
  }

  /** Kills all servers, and starts them again. */
  public void restart() {
    servers.forEach(ZooKeeperServer::kill);
    start();
  }

  @Override
  public void close() {
    servers.forEach(ZooKeeperServer::close);
    tunnels.values().forEach(Tunnel::close);
  }
}
