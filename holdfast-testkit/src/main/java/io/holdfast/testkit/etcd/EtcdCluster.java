// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.etcd;

import io.holdfast.testkit.Await;
import java.util.List;
import java.util.stream.Collectors;

/** Three etcd servers of a test's own that are one cluster. */
public final class EtcdCluster implements AutoCloseable {
  private final List<EtcdServer> members;

  /** Starts it, and waits until all members answer. */
  public EtcdCluster() {
    members = List.of(EtcdServer.member("m1"), EtcdServer.member("m2"), EtcdServer.member("m3"));
    String all = members.stream().map(EtcdServer::asPeer).collect(Collectors.joining(","));
    try {
      members.forEach(each -> each.begin(List.of("--initial-cluster=" + all)));
      members.forEach(EtcdServer::awaitHealth);
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
  public List<EtcdServer> members() {
    return members;
  }

  /**
   * Returns the member that leads now.
   *
   * @return the leader
   */
  public EtcdServer leader() {
    return Await.present(
        "a leader",
        () -> members.stream()
            .filter(EtcdServer::isRunning)
            .filter(EtcdServer::leads)
            .findFirst());
  }

  /**
   * Returns the address of all members.
   *
   * @return {@code etcd://} and the endpoints
   */
  public String uri() {
    return members.stream()
        .map(EtcdServer::endpoint)
        .collect(Collectors.joining(",", "etcd://", ""));
  }

  /** Starts those that do not run, and waits until all answer. */
  public void startAll() {
    members.stream().filter(each -> !each.isRunning()).forEach(EtcdServer::start);
    members.forEach(EtcdServer::awaitHealth);
  }

  /** Kills all members, and starts them again with the same data. */
  public void restart() {
    members.forEach(EtcdServer::kill);
    members.forEach(EtcdServer::restartLater);
    members.forEach(EtcdServer::awaitHealth);
  }

  /** Pauses all members. */
  public void pause() {
    members.forEach(EtcdServer::pause);
  }

  /** Lets all members go on. */
  public void resume() {
    members.forEach(EtcdServer::resume);
    members.forEach(EtcdServer::awaitHealth);
  }

  @Override
  public void close() {
    members.forEach(EtcdServer::close);
  }
}
