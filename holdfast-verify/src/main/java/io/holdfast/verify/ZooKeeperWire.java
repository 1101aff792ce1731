// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A session with a ZooKeeper server, and as much of its protocol as a lock of one node needs. The server's own client cannot
 * come along: its two jars share packages, so that no module can read both. A thread sends signs of life.
 */
final class ZooKeeperWire implements AutoCloseable {
  /** What the server answers if a node is there already, or is not there. */
  static final int NODE_EXISTS = -110;

  static final int NO_NODE = -101;

  private static final int CREATE = 1;
  private static final int DELETE = 2;
  private static final int PING = 11;
  private static final int CLOSE = -11;
  private static final int PING_NUMBER = -2;
  private static final int ALL_PERMISSIONS = 31;
  private static final int ANY_VERSION = -1;
  private static final int PASSWORD_BYTES = 16;
  private static final int SIGNS_PER_SESSION = 3;
  private static final int CONNECT_MILLIS = 2_000;

  private final ReentrantLock guard = new ReentrantLock();
  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final long timeoutNanos;
  private int number;
  private volatile boolean over;

  /** Writes the body of a request. */
  private interface Body {
    void to(DataOutputStream to) throws IOException;
  }

  /**
   * Connects, and begins a session.
   *
   * @param server where
   * @param timeoutMillis how long the server waits for a sign of life; it has a least and a most of its own
   */
  ZooKeeperWire(InetSocketAddress server, int timeoutMillis) throws IOException {
    socket = new Socket();
    socket.connect(server, CONNECT_MILLIS);
    socket.setTcpNoDelay(true);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    out = new DataOutputStream(socket.getOutputStream());
    send(body -> {
      body.writeInt(0);
      body.writeLong(0);
      body.writeInt(timeoutMillis);
      body.writeLong(0);
      body.writeInt(PASSWORD_BYTES);
      body.write(new byte[PASSWORD_BYTES]);
      body.writeBoolean(false);
    });
    int left = in.readInt() - 2 * Integer.BYTES;
    in.readInt();
    int given = in.readInt();
    in.readFully(new byte[left]);
    if (given <= 0) {
      throw new IOException("ZooKeeper gives no session");
    }
    timeoutNanos = TimeUnit.MILLISECONDS.toNanos(given);
    socket.setSoTimeout(given);
    Thread signs = new Thread(this::giveSigns, "holdfast-verify-signs");
    signs.setDaemon(true);
    signs.start();
  }

  /** Whether the connection has ended, and with it what can be known of the session. */
  boolean isOver() {
    return over;
  }

  /** Creates an empty node; returns 0, or what the server found wrong. */
  int create(String path, boolean ephemeral) {
    return ask(++number, CREATE, body -> {
      text(body, path);
      body.writeInt(0);
      body.writeInt(1);
      body.writeInt(ALL_PERMISSIONS);
      text(body, "world");
      text(body, "anyone");
      body.writeInt(ephemeral ? 1 : 0);
    });
  }

  /** Deletes a node; returns 0, or what the server found wrong. */
  int delete(String path) {
    return ask(++number, DELETE, body -> {
      text(body, path);
      body.writeInt(ANY_VERSION);
    });
  }

  private void giveSigns() {
    while (!over) {
      LockSupport.parkNanos(timeoutNanos / SIGNS_PER_SESSION);
      try {
        int unused = ask(PING_NUMBER, PING, body -> {});
      } catch (UncheckedIOException e) {
        // it is over, and whoever asks next is told
        return;
      }
    }
  }

  private int ask(int request, int type, Body body) {
    guard.lock();
    try {
      send(to -> {
        to.writeInt(request);
        to.writeInt(type);
        body.to(to);
      });
      int answered;
      int error;
      do {
        int left = in.readInt() - 2 * Integer.BYTES - Long.BYTES;
        answered = in.readInt();
        in.readLong();
        error = in.readInt();
        in.readFully(new byte[left]);
      } while (answered != request);
      return error;
    } catch (IOException e) {
      end();
      throw new UncheckedIOException(e);
    } finally {
      guard.unlock();
    }
  }

  private void send(Body body) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    body.to(new DataOutputStream(bytes));
    out.writeInt(bytes.size());
    bytes.writeTo(out);
    out.flush();
  }

  private static void text(DataOutputStream to, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    to.writeInt(bytes.length);
    to.write(bytes);
  }

  private void end() {
    over = true;
    try {
      socket.close();
    } catch (IOException e) {
      System.getLogger(ZooKeeperWire.class.getName())
          .log(System.Logger.Level.TRACE, "it was closed already", e);
    }
  }

  /** Ends the session, and with it its nodes. */
  @Override
  public void close() {
    try {
      if (!over) {
        int unused = ask(++number, CLOSE, body -> {});
      }
    } catch (UncheckedIOException e) {
      System.getLogger(ZooKeeperWire.class.getName())
          .log(System.Logger.Level.TRACE, "the session ends by itself", e);
    } finally {
      end();
    }
  }
}
