// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import io.holdfast.Ticker;
import io.holdfast.testkit.Await;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A piece of network between clients and a server, on loopback, that can fall silent: connections stay, new ones are
 * accepted, and nothing passes until {@link #heal()}. What was sent meanwhile arrives then, late; or never, after
 * {@link #drop()}.
 */
public final class Tunnel implements AutoCloseable {
  private static final int PIECE = 8192;
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final int target;
  private final ServerSocket listening;
  private final Thread accepting;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition healed = lock.newCondition();
  private boolean requestsStalled;
  private boolean repliesStalled;
  private final AtomicReference<@Nullable String> breaking = new AtomicReference<>();
  private final AtomicLong replied = new AtomicLong();

  /**
   * Opens it.
   *
   * @param target the port of this machine that it leads to; nobody need listen there yet
   */
  public Tunnel(int target) {
    this.target = target;
    try {
      listening = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException("no port for the tunnel", e);
    }
    accepting = start("accepts", this::accept);
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
   * Says whether a connection goes through.
   *
   * @return false if there is none, or if it is being closed
   */
  public boolean isUsed() {
    return open.stream().anyMatch(socket -> !socket.isClosed());
  }

  /**
   * Waits until the server has sent so much for a while, in all replies together. What comes before, of clients that have just
   * come or have stood still, does not count.
   *
   * @param time for how long, or a little longer; it is measured anew until it was so
   * @param moreThan bytes a second
   * @param lessThan bytes a second
   * @throws AssertionError if it was not so within a minute
   */
  public void awaitReplies(Duration time, long moreThan, long lessThan) {
    Await.until(
        "the server sends more than " + moreThan + " and less than " + lessThan + " bytes a second",
        MINUTE,
        () -> {
          long perSecond = repliedPerSecond(time);
          return perSecond > moreThan && perSecond < lessThan;
        });
  }

  private long repliedPerSecond(Duration time) {
    long before = replied.get();
    long start = Ticker.system().nanos();
    Await.until("the time is over", () -> Ticker.system().nanos() - start >= time.toNanos());
    long bytes = replied.get() - before;
    return bytes * 1_000 / Duration.ofNanos(Ticker.system().nanos() - start).toMillis();
  }

  /** Lets nothing through any more, in neither direction. */
  public void stall() {
    stalled(true, true);
  }

  /** Lets requests through, but no replies. */
  public void stallReplies() {
    stalled(false, true);
  }

  /** Lets replies and messages through, but no requests. */
  public void stallRequests() {
    stalled(true, false);
  }

  /** Breaks all connections; what has not got through is lost. Does not {@link #heal()}. */
  public void drop() {
    open.forEach(Tunnel::close);
  }

  /** Lets everything through again, also what was held back. */
  public void heal() {
    stalled(false, false);
  }

  /**
   * Breaks the next connection on which this is asked for, which does not get through; that one alone.
   *
   * @param words a part of a request, in ASCII
   */
  public void breakOnceAt(String words) {
    breaking.set(words);
  }

  /** Whether this piece of a request is what a connection is to be broken at. */
  private boolean breaksAt(byte[] piece, int length) {
    String words = breaking.get();
    return words != null
        && new String(piece, 0, length, StandardCharsets.ISO_8859_1).contains(words)
        && breaking.compareAndSet(words, null);
  }

  private void stalled(boolean requests, boolean replies) {
    lock.lock();
    try {
      requestsStalled = requests;
      repliesStalled = replies;
      healed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listening.accept();
        open.add(client);
        start("connects", () -> connect(client));
      }
    } catch (IOException e) {
      // closed
      drop();
    }
  }

  private void connect(Socket client) {
    try {
      Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
      open.add(server);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      start("replies", () -> pump(server, client, false));
      pump(client, server, true);
    } catch (IOException e) {
      // nobody listens there
      close(client);
      open.remove(client);
    }
  }

  private void pump(Socket from, Socket to, boolean requests) {
    byte[] piece = new byte[PIECE];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
        awaitHealed(requests);
        if (requests && breaksAt(piece, read)) {
          return;
        }
        out.write(piece, 0, read);
        if (!requests) {
          replied.addAndGet(read);
        }
      }
      awaitHealed(requests);
    } catch (IOException e) {
      // one of them is gone, and the other one hears of it
    } finally {
      close(from);
      close(to);
      open.remove(from);
      open.remove(to);
    }
  }

  private void awaitHealed(boolean requests) {
    lock.lock();
    try {
      while (requests ? requestsStalled : repliesStalled) {
        healed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  private static Thread start(String what, Runnable work) {
    Thread thread = new Thread(work, "holdfast-tunnel-" + what);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException("a connection cannot be closed", e);
    }
  }

  /** Closes it, and all connections through it. */
  @Override
  public void close() {
    heal();
    try {
      listening.close();
    } catch (IOException e) {
      throw new UncheckedIOException("the tunnel cannot be closed", e);
    }
    // until then its accept may still take one
    Await.until("it accepts no connection any more", () -> !accepting.isAlive());
    drop();
  }
}
