// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.testkit.process.ServerProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/** A redis-server that keeps nothing on disk, until this JVM ends. */
final class RedisProcess implements AutoCloseable {
  private final int port = ServerProcess.freePort();
  private final ServerProcess process = ServerProcess.of("redis-server");

  /** Starts it, and waits until it answers. */
  RedisProcess(String... options) {
    List<String> arguments = new ArrayList<>(List.of(options));
    arguments.addAll(List.of("--save", "", "--appendonly", "no"));
    start(arguments);
  }

  /** Starts a sentinel that watches over a server, alone. */
  static RedisProcess sentinelOf(RedisProcess server, String name) {
    return new RedisProcess(server, name);
  }

  private RedisProcess(RedisProcess watched, String name) {
    String file = process.folder().resolve("sentinel.conf").toString();
    try {
      Files.writeString(
          process.folder().resolve("sentinel.conf"),
          "sentinel monitor " + name + " 127.0.0.1 " + watched.port + " 1\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start(List.of(file, "--sentinel"));
  }

  private void start(List<String> options) {
    List<String> arguments = new ArrayList<>(options);
    arguments.addAll(List.of("--port", Integer.toString(port), "--bind", "127.0.0.1"));
    arguments.addAll(List.of("--dir", process.folder().toString()));
    process.start(arguments);
    process.awaitAnswer(this::answers);
  }

  private boolean answers() {
    try {
      return ask("PING").equals("+PONG");
    } catch (IOException e) {
      // not there yet
      return false;
    }
  }

  /** Returns what is answered to a command: a line, or a text. */
  String ask(String command) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
      BufferedReader in = new BufferedReader(
          new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
      String line = in.readLine();
      if (line == null) {
        throw new IOException("redis-server closed the connection");
      }
      if (!line.startsWith("$") || line.equals("$-1")) {
        return line;
      }
      char[] text = new char[Integer.parseInt(line.substring(1))];
      for (int read = 0; read < text.length; ) {
        int more = in.read(text, read, text.length - read);
        if (more < 0) {
          throw new IOException("redis-server closed the connection");
        }
        read += more;
      }
      return new String(text);
    }
  }

  /** From now on it takes requests and answers none. */
  void pause() {
    process.pause();
  }

  String log() {
    try {
      return Files.readString(process.folder().resolve("log"));
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Override
  public void close() {
    process.close();
  }

  int port() {
    return port;
  }

  String address() {
    return "127.0.0.1:" + port;
  }
}
