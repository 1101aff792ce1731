// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;

/**
 * The servers that a session may go to, and how long one that does not answer is waited for while there are others.
 *
 * <p>{@link ZooKeeper} gives each server an equal part of the session's time to answer a new connection. With three servers that
 * is a third: one that is silent costs more than a holder has left. So this list says that there are more of them.
 */
final class ServerList implements HostProvider {
  private static final long LEAST_SILENCE_MILLIS = 1000;
  private static final long LEAST_CONNECT_MILLIS = 2000;

  private final HostProvider servers;
  private final int parts;

  /**
   * Makes the list.
   *
   * @param servers each as {@code HOST:PORT}, with commas between
   * @param sessionMillis how long a session lasts without a sign of life
   * @param reserve by how much it outlasts a lease
   */
  ServerList(String servers, int sessionMillis, Duration reserve) {
    this.servers = new StaticHostProvider(new ConnectStringParser(servers).getServerAddresses());
    this.parts = (int)
        (sessionMillis / Math.max(LEAST_CONNECT_MILLIS, silenceMillis(sessionMillis, reserve)));
  }

  /** Says whether there are several. */
  static boolean isOneOfSeveral(String servers) {
    return servers.indexOf(',') >= 0;
  }

  /**
   * For how long a connected server may be silent: a tenth of the lease, so that a renewal that was due when it fell silent is
   * made at another one in time. A second at least, which garbage collection takes.
   */
  static long silenceMillis(int sessionMillis, Duration reserve) {
    return Math.max(LEAST_SILENCE_MILLIS, (sessionMillis - reserve.toMillis()) / 10);
  }

  @Override
  public int size() {
    return Math.max(parts, servers.size());
  }

  @Override
  public InetSocketAddress next(long spinDelay) {
    return servers.next(spinDelay);
  }

  @Override
  public void onConnected() {
    servers.onConnected();
  }

  @Override
  public boolean updateServerList(
      Collection<InetSocketAddress> others, InetSocketAddress currentHost) {
    return servers.updateServerList(others, currentHost);
  }
}
