// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.consul;

import io.holdfast.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Three Consul servers of a test's own that are one cluster. */
public final class ConsulCluster implements AutoCloseable {
  private final List<ConsulServer> members;

  /** Starts it, and waits until all members answer. */
  public ConsulCluster() {
    members =
        List.of(ConsulServer.member("m1"), ConsulServer.member("m2"), ConsulServer.member("m3"));
    List<String> options = new ArrayList<>(List.of("-bootstrap-expect=3"));
    members.forEach(each -> options.add("-retry-join=" + each.gossip()));
    options.add("-retry-interval=1s");
    try {
      members.forEach(each -> each.begin(options));
      members.forEach(ConsulServer::awaitHealth);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /**
   * Returns the members.
   *
   * @return all three, always in the same order
   */
  public List<ConsulServer> members() {
    return members;
  }

  /**
   * Returns the member that leads now.
   *
   * @return the leader
   */
  public ConsulServer leader() {
    return Await.present(
        "a leader",
        () -> members.stream()
            .filter(ConsulServer::isRunning)
            .filter(each -> each.leader().equals(each.peer()))
            .findFirst());
  }

  /**
   * Returns the address of all members.
   *
   * @return {@code consul://} and the endpoints
   */
  public String uri() {
    return members.stream()
        .map(ConsulServer::endpoint)
        .collect(Collectors.joining(",", "consul://", ""));
  }

  /** Starts those that do not run, and waits until all answer. */
  public void startAll() {
    members.stream().filter(each -> !each.isRunning()).forEach(ConsulServer::restartLater);
    members.forEach(ConsulServer::awaitHealth);
  }

  /** Kills all members, and starts them again with the same data. */
  public void restart() {
    members.forEach(ConsulServer::kill);
    members.forEach(ConsulServer::restartLater);
    members.forEach(ConsulServer::awaitHealth);
  }

  /** Pauses all members. */
  public void pause() {
    members.forEach(ConsulServer::pause);
  }

  /** Lets all members go on. */
  public void resume() {
    members.forEach(ConsulServer::resume);
    members.forEach(ConsulServer::awaitHealth);
  }

  @Override
  public void close() {
    members.forEach(ConsulServer::close);
  }
}
