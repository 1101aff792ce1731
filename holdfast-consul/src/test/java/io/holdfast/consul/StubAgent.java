// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.testkit.Await;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/** Stands in for an agent: says what the test says, else what the stub of its servers says, and notes what it was asked. */
final class StubAgent implements AutoCloseable {
  private static final int NO_ANSWER = 0;

  final List<Asked> asked = new CopyOnWriteArrayList<>();

  /** What the test has it say; empty for what the servers say. May wait. */
  volatile Function<Asked, Optional<Reply>> script = asked -> Optional.empty();

  /** Called between the head of each answer and its body. May wait. */
  volatile Runnable beforeBody = () -> {};

  private final StubServers servers;
  private final ServerSocket listening;
  private final Thread accepting;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  /** A request. */
  record Asked(String method, String path, String body) {
    boolean isFor(String what) {
      return path.contains(what) || body.contains(what);
    }
  }

  /** An answer; the index is left out if it is 0. */
  record Reply(int status, String body, long index) {
    /** Breaks the connection in place of an answer. */
    static final Reply NONE = new Reply(NO_ANSWER, "", 0);

    static Optional<Reply> of(int status, String body) {
      return Optional.of(new Reply(status, body, 0));
    }
  }

  StubAgent(StubServers servers) {
    this.servers = servers;
    try {
      listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException("no port for the stub", e);
    }
    accepting = start(this::accept);
  }

  String endpoint() {
    return "127.0.0.1:" + listening.getLocalPort();
  }

  long count(String what) {
    return asked.stream().filter(each -> each.isFor(what)).count();
  }

  private static Thread start(Runnable work) {
    Thread thread = new Thread(work, "stub-agent");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listening.accept();
        open.add(client);
        start(() -> serve(client));
      }
    } catch (IOException e) {
      // closed
    }
  }

  private void serve(Socket client) {
    try (client) {
      InputStream in = new BufferedInputStream(client.getInputStream());
      OutputStream out = client.getOutputStream();
      for (String first = line(in); !first.isEmpty(); first = line(in)) {
        int length = 0;
        for (String header = line(in); !header.isEmpty(); header = line(in)) {
          if (header.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
            length = Integer.parseInt(header.substring(15).strip());
          }
        }
        String[] words = first.split(" ", 3);
        Asked question = new Asked(
            words[0], words[1], new String(in.readNBytes(length), StandardCharsets.UTF_8));
        asked.add(question);
        Reply reply = script.apply(question).orElseGet(() -> servers.answer(question));
        if (reply.status == NO_ANSWER) {
          return;
        }
        byte[] body = reply.body.getBytes(StandardCharsets.UTF_8);
        String head = "HTTP/1.1 " + reply.status + " Stub\r\nContent-Length: " + body.length
            + "\r\n" + (reply.index == 0 ? "" : "X-Consul-Index: " + reply.index + "\r\n") + "\r\n";
        out.write(head.getBytes(StandardCharsets.US_ASCII));
        out.flush();
        beforeBody.run();
        out.write(body);
        out.flush();
      }
    } catch (IOException e) {
      // the client has gone, or the test is over
    }
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) {
      line.append((char) next);
    }
    return line.toString().strip();
  }

  /** Nobody gets through once this has returned. */
  @Override
  public void close() {
    try {
      listening.close();
      // until then its accept may still take one
      Await.until("it takes nobody any more", () -> !accepting.isAlive());
      for (Socket each : open) {
        each.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the stub cannot be closed", e);
    }
  }
}
