// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.testkit.process.ServerProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A redis-server for the tests of one class. */
final class RedisProcess implements BeforeAllCallback, AfterAllCallback {
  private final int port = ServerProcess.freePort();
  private @Nullable ServerProcess process;

  @Override
  public void beforeAll(ExtensionContext context) {
    ServerProcess started = ServerProcess.of("redis-server");
    process = started;
    started.start(List.of(
        "--port",
        Integer.toString(port),
        "--bind",
        "127.0.0.1",
        "--dir",
        started.folder().toString(),
        "--save",
        "",
        "--appendonly",
        "no"));
    Await.until("redis-server answers", this::answers, () -> log(started));
  }

  private boolean answers() {
    try {
      return ask("PING").equals("+PONG");
    } catch (IOException e) {
      // not there yet
      return false;
    }
  }

  /** How many wait for a lock. */
  int waiters(String lock) throws IOException {
    return Integer.parseInt(ask("ZCARD holdfast:{" + lock + "}:q").substring(1));
  }

  private String ask(String command) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
      BufferedReader in = new BufferedReader(
          new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
      String line = in.readLine();
      if (line == null) {
        throw new IOException("redis-server closed the connection");
      }
      return line;
    }
  }

  private static String log(ServerProcess server) {
    try {
      return Files.readString(server.folder().resolve("log"));
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (process != null) {
      process.close();
    }
  }

  String uri() {
    return "redis://127.0.0.1:" + port;
  }
}
