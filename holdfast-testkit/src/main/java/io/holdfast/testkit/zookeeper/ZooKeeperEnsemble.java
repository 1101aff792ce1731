// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.zookeeper;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Servers of our own that make up an ensemble; each can be killed, paused and started again by itself. */
public final class ZooKeeperEnsemble implements AutoCloseable {
  private final List<ZooKeeperServer> servers = new ArrayList<>();

  private ZooKeeperEnsemble(int size, List<String> settings) {
    List<String> lines = new ArrayList<>(
        List.of("initLimit=20", "syncLimit=5", "standaloneEnabled=false", "reconfigEnabled=false"));
    for (int id = 1; id <= size; id++) {
      servers.add(new ZooKeeperServer(id));
      lines.add("server." + id + "=127.0.0.1:" + ServerProcess.freePort() + ":"
          + ServerProcess.freePort());
    }
    lines.addAll(settings);
    servers.forEach(each -> each.configure(lines));
    start();
  }

  /**
   * Starts three servers.
   *
   * @param settings more lines for their configuration
   * @return an ensemble whose servers all serve
   */
  public static ZooKeeperEnsemble ofThree(String... settings) {
    return new ZooKeeperEnsemble(3, List.of(settings));
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
  }
}
