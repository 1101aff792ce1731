// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Who is measured on a server, by name, in the order of the tables; each is made when it is first asked for. */
class Peers implements AutoCloseable {
  /** Ourselves, everywhere. */
  static final String US = "Holdfast";

  /** What the server can do at most; with something behind it where there are several. */
  static final String FLOOR = "floor";

  private final Map<String, Supplier<Peer>> makers = new LinkedHashMap<>();
  private final Map<String, Peer> made = new LinkedHashMap<>();

  /**
   * Returns those of a server, in another process as well.
   *
   * @param server a port of Redis, or the address of another store
   */
  static Peers of(String server) {
    if (server.startsWith("etcd:")) {
      return new EtcdPeers(server);
    }
    if (server.startsWith("consul:")) {
      return new ConsulPeers(server);
    }
    if (server.startsWith("zookeeper:")) {
      return new ZooKeeperPeers(server);
    }
    return server.startsWith("jdbc:") ? new SqlPeers(server) : new RedisPeers(server);
  }

  final void add(String name, Supplier<Peer> maker) {
    makers.put(name, maker);
  }

  final Peer get(String name) {
    Peer peer = made.get(name);
    if (peer == null) {
      Supplier<Peer> maker = makers.get(name);
      if (maker == null) {
        throw new IllegalArgumentException("no peer is called " + name);
      }
      peer = maker.get();
      made.put(name, peer);
    }
    return peer;
  }

  @Override
  public void close() {
    made.values().forEach(Peer::close);
  }
}
