// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A port before a server. Shut, it ends the connections that go through it, and each new one at once. */
final class Gate implements AutoCloseable {
  private final ServerSocket port;
  private final int server;
  private final AtomicInteger refused = new AtomicInteger();

  // guarded by this

  private final List<Socket> open = new ArrayList<>();
  private boolean shut;

  /** Lets through to a server on this machine. */
  Gate(int server) {
    this.server = server;
    try {
      port = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    run("gate", this::accept);
  }

  private interface Work {
    void run() throws IOException;
  }

  private static void run(String name, Work work) {
    Thread thread = new Thread(
        () -> {
          try {
            work.run();
          } catch (IOException e) {
            // one of the two sides has ended, or the gate was shut: the other side is told by close
          }
        },
        name);
    thread.setDaemon(true);
    thread.start();
  }

  String endpoint() {
    return "127.0.0.1:" + port.getLocalPort();
  }

  /** How many connections were ended because the gate was shut when they came. */
  int refused() {
    return refused.get();
  }

  synchronized void shut() throws IOException {
    shut = true;
    for (Socket each : open) {
      each.close();
    }
    open.clear();
  }

  synchronized void open() {
    shut = false;
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = port.accept();
      if (!isLetThrough(client)) {
        refused.incrementAndGet();
        client.close();
        continue;
      }
      Socket behind = new Socket(InetAddress.getLoopbackAddress(), server);
      if (isLetThrough(behind)) {
        run("gate-up", () -> copy(client, behind));
        run("gate-down", () -> copy(behind, client));
      } else {
        behind.close();
      }
    }
  }

  private synchronized boolean isLetThrough(Socket socket) {
    if (!shut) {
      open.add(socket);
    }
    return !shut;
  }

  private static void copy(Socket from, Socket to) throws IOException {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] some = new byte[8192];
      int count = in.read(some);
      while (count >= 0) {
        out.write(some, 0, count);
        out.flush();
        count = in.read(some);
      }
    }
  }

  @Override
  public void close() throws IOException {
    shut();
    port.close();
  }
}
