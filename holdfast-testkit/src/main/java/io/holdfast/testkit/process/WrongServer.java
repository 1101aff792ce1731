// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What a mistaken address may lead to: a port of this machine that accepts connections and is not the server that the client
 * expects. It counts the connections.
 */
public final class WrongServer implements AutoCloseable {
  /** An HTTP server answers what it does not understand. */
  private static final String BAD_REQUEST =
      "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

  /** A mail server speaks first. */
  private static final String GREETING = "220 mail.example ESMTP\r\n";

  private final ServerSocket listening;
  private final Set<Socket> accepted = ConcurrentHashMap.newKeySet();
  private final AtomicInteger connections = new AtomicInteger();

  /** What is done with a connection. */
  @FunctionalInterface
  private interface Manners {
    void meet(Socket socket) throws IOException;
  }

  private WrongServer(Manners manners) {
    try {
      listening = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException("no port to listen on", e);
    }
    Thread thread = new Thread(() -> accept(manners), "wrong-server");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Opens one that reads nothing and answers nothing.
   *
   * @return one that listens
   */
  public static WrongServer silent() {
    return new WrongServer(socket -> {});
  }

  /**
   * Opens one that closes each connection at once.
   *
   * @return one that listens
   */
  public static WrongServer hangingUp() {
    return new WrongServer(Socket::close);
  }

  /**
   * Opens one that answers each connection's first bytes as an HTTP server answers a request that it cannot read, then closes
   * the connection.
   *
   * @return one that listens
   */
  public static WrongServer http() {
    return new WrongServer(socket -> {
      byte[] some = new byte[4096];
      if (socket.getInputStream().read(some) >= 0) {
        say(BAD_REQUEST, socket);
        // what is unread would make an end of the connection a reset, which may overtake the answer
        socket.shutdownOutput();
      }
    });
  }

  /**
   * Opens one that speaks first, as a mail server does, and then stays silent.
   *
   * @return one that listens
   */
  public static WrongServer greeting() {
    return new WrongServer(socket -> say(GREETING, socket));
  }

  private static void say(String text, Socket socket) throws IOException {
    OutputStream answer = socket.getOutputStream();
    answer.write(text.getBytes(StandardCharsets.US_ASCII));
    answer.flush();
  }

  private void accept(Manners manners) {
    while (!listening.isClosed()) {
      try {
        Socket socket = listening.accept();
        accepted.add(socket);
        connections.incrementAndGet();
        Thread thread = new Thread(() -> meet(manners, socket), "wrong-server-connection");
        thread.setDaemon(true);
        thread.start();
      } catch (IOException e) {
        // it is being closed
        return;
      }
    }
  }

  private static void meet(Manners manners, Socket socket) {
    try {
      manners.meet(socket);
    } catch (IOException e) {
      // the client has hung up, which is what the test is about
    }
  }

  /**
   * Returns where it listens.
   *
   * @return a port of this machine
   */
  public int port() {
    return listening.getLocalPort();
  }

  /**
   * Returns how many connections came.
   *
   * @return those that were accepted so far
   */
  public int connections() {
    return connections.get();
  }

  /** Stops listening, and closes all connections. */
  @Override
  public void close() throws IOException {
    listening.close();
    for (Socket each : accepted) {
      each.close();
    }
  }
}
