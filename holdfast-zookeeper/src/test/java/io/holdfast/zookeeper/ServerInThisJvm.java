// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper server whose memory a test can reach into. */
final class ServerInThisJvm implements AutoCloseable {
  private final ZooKeeperServer server;
  private final NIOServerCnxnFactory connections = new NIOServerCnxnFactory();

  ServerInThisJvm(Path data) throws IOException, InterruptedException {
    server = new ZooKeeperServer(data.toFile(), data.toFile(), 1000);
    server.setMaxSessionTimeout(60_000);
    connections.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 20);
    connections.startup(server);
  }

  String address() {
    return "127.0.0.1:" + connections.getLocalPort();
  }

  DataNode node(String path) {
    return server.getZKDatabase().getDataTree().getNode(path);
  }

  @Override
  public void close() {
    connections.shutdown();
  }
}
