// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.redis.RespFrames.Frame;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Stands between clients and a server, on loopback; it understands what goes through, and mistreats what a test names:
 * the next request of a script ({@code attempt}, {@code keep}, {@code end} ...) or command, or the next {@code message}.
 *
 * <p>A connection keeps its order, as TCP does: what waits makes everything behind it wait, and a request or a reply is
 * only ever lost together with its connection.
 */
final class RespProxy implements AutoCloseable {
  private static final byte[] PING = RedisKeys.ascii("PING\r\n");
  private static final Map<String, String> SCRIPTS = new HashMap<>();

  static {
    for (RedisScript each : RedisScript.values()) {
      SCRIPTS.put(each.sha(), each.name().toLowerCase(Locale.ROOT));
      SCRIPTS.put(each.text(), each.name().toLowerCase(Locale.ROOT));
    }
  }

  private volatile int target;
  private final ServerSocket listening;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final List<Catch> catches = new ArrayList<>();
  private final Map<String, Integer> seen = new ConcurrentHashMap<>();
  private CompletableFuture<?> upwards = CompletableFuture.completedFuture(true);
  private CompletableFuture<?> downwards = upwards;
  private volatile boolean refusing;

  /** Who waits for a reply. */
  private record Expected(@Nullable Catch rule, boolean isForTheClient) {}

  RespProxy(int target) {
    this.target = target;
    try {
      listening = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException("no port for the proxy", e);
    }
    start("accepts", this::accept);
  }

  private interface Work {
    void run() throws IOException;
  }

  private static void start(String name, Work work) {
    Thread thread = new Thread(
        () -> {
          try {
            work.run();
          } catch (IOException e) {
            // the connection, or the proxy, was closed
            return;
          }
        },
        "proxy " + name);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = listening.accept();
      if (refusing) {
        client.close();
        continue;
      }
      client.setTcpNoDelay(true);
      Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
      server.setTcpNoDelay(true);
      Link link = new Link(client, server);
      links.add(link);
      start("up", link::up);
      start("down", link::down);
    }
  }

  String uri() {
    return "redis://127.0.0.1:" + port();
  }

  int port() {
    return listening.getLocalPort();
  }

  /** What is to happen to the next one that nothing else was said about. */
  Catch next(String what, Fate fate) {
    return next(new Catch(what, fate, ""));
  }

  /** The next one is answered with an error, as if the server had said so. */
  Catch refuse(String what, String error) {
    return next(new Catch(what, Fate.REFUSE, error));
  }

  private Catch next(Catch rule) {
    synchronized (catches) {
      catches.add(rule);
    }
    return rule;
  }

  private @Nullable Catch take(String what, Frame frame) {
    seen.merge(what, 1, Integer::sum);
    synchronized (catches) {
      for (Iterator<Catch> all = catches.iterator(); all.hasNext(); ) {
        Catch rule = all.next();
        if (rule.what.equals(what)) {
          all.remove();
          rule.caught.complete(frame);
          return rule;
        }
      }
    }
    return null;
  }

  /** How many of these have come by. */
  int count(String what) {
    return seen.getOrDefault(what, 0);
  }

  /** How many connections are open. */
  int links() {
    return links.size();
  }

  /** Leads to another server from the next connection on. */
  void leadTo(int port) {
    target = port;
  }

  /** Accepts no connections until {@link #mend()}. */
  void refuse() {
    refusing = true;
  }

  /** Breaks all connections, and accepts no others until {@link #mend()}. */
  void cut() {
    refuse();
    links.forEach(Link::close);
  }

  /** Lets nothing through any more in one direction or both, while connections stay open, until {@link #mend()}. */
  synchronized void stall(boolean requests, boolean replies) {
    upwards = requests ? new CompletableFuture<>() : upwards;
    downwards = replies ? new CompletableFuture<>() : downwards;
  }

  /** Everything goes through again, what waited too. */
  synchronized void mend() {
    refusing = false;
    upwards.complete(null);
    downwards.complete(null);
  }

  private synchronized CompletableFuture<?> way(boolean up) {
    return up ? upwards : downwards;
  }

  private static String nameOf(Frame request) {
    String command = request.word(0).toLowerCase(Locale.ROOT);
    return command.startsWith("eval") ? SCRIPTS.getOrDefault(request.word(1), command) : command;
  }

  /** One client's connection. */
  private final class Link {
    private final Socket client;
    private final Socket server;
    private final Queue<Expected> expected = new ConcurrentLinkedQueue<>();

    Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    void up() throws IOException {
      try (server) {
        RespFrames in = new RespFrames(client.getInputStream());
        while (true) {
          Frame frame = in.next();
          String name = nameOf(frame);
          Catch rule = take(name, frame);
          way(true).join();
          if (!pass(frame, name, rule)) {
            return;
          }
        }
      } finally {
        close();
      }
    }

    private boolean pass(Frame frame, String name, @Nullable Catch rule) throws IOException {
      switch (rule == null ? Fate.MISS : rule.fate) {
        case LOSE_REQUEST -> {
          return false;
        }
        case SILENCE -> {
          // until the client has had enough
          while (client.getInputStream().read() >= 0) {}
          return false;
        }
        case TWICE -> {
          send(frame, new Expected(null, true));
          send(frame, new Expected(rule, false));
        }
        case REFUSE -> {
          // something harmless in its place, so that answers stay in order
          expected.add(new Expected(rule, true));
          server.getOutputStream().write(PING);
        }
        case LATE_REQUEST -> {
          client.close();
          Objects.requireNonNull(rule).goes.join();
          send(frame, new Expected(rule, false));
          rule.answered.join();
          return false;
        }
        default -> {
          if (name.endsWith("subscribe")) {
            // what is said to that is a message, not a reply
            frame.writeTo(server.getOutputStream());
          } else {
            send(frame, new Expected(rule, true));
          }
        }
      }
      return true;
    }

    private void send(Frame frame, Expected who) throws IOException {
      expected.add(who);
      frame.writeTo(server.getOutputStream());
    }

    void down() throws IOException {
      try (client) {
        RespFrames in = new RespFrames(server.getInputStream());
        while (true) {
          Frame frame = in.next();
          boolean passed = frame.isPush() ? push(frame) : reply(frame);
          if (!passed) {
            return;
          }
        }
      } finally {
        close();
      }
    }

    private boolean push(Frame frame) throws IOException {
      Catch rule = take(frame.word(0), frame);
      if (rule != null && rule.fate == Fate.MISS) {
        return true;
      }
      if (rule != null && rule.fate == Fate.HOLD_REPLY) {
        rule.goes.join();
      }
      write(frame);
      if (rule != null && rule.fate == Fate.TWICE) {
        write(frame);
      }
      return true;
    }

    private boolean reply(Frame frame) throws IOException {
      Expected who = expected.remove();
      Catch rule = who.rule;
      if (rule != null) {
        rule.answered.complete(frame);
        if (rule.fate == Fate.LOSE_REPLY) {
          return false;
        }
        if (rule.fate == Fate.HOLD_REPLY) {
          rule.goes.join();
        }
        if (rule.fate == Fate.REFUSE) {
          client.getOutputStream().write(RedisKeys.ascii("-" + rule.error + "\r\n"));
          return true;
        }
      }
      if (who.isForTheClient) {
        write(frame);
      }
      return true;
    }

    private void write(Frame frame) throws IOException {
      way(false).join();
      frame.writeTo(client.getOutputStream());
    }

    void close() {
      links.remove(this);
      try {
        client.close();
        server.close();
      } catch (IOException e) {
        throw new UncheckedIOException("a socket does not close", e);
      }
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    mend();
    synchronized (catches) {
      catches.clear();
    }
    links.forEach(Link::close);
  }
}
