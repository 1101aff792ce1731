// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.consul;

import io.holdfast.testkit.process.ServerProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Consul server of a test's own: a child process with a folder and ports that stay the same over restarts. Its elections
 * are quicker than by default, and its shortest session is a second.
 */
public final class ConsulServer implements AutoCloseable {
  private static final int MILLIS = 3_000;
  private static final Pattern VERSION = Pattern.compile("\"Version\":\"([^\"]+)\"");
  private static final String PROBE =
      "{\"Name\":\"probe\",\"TTL\":\"10s\",\"NodeChecks\":[],\"Behavior\":\"delete\"}";

  private final ServerProcess process = ServerProcess.of("consul");
  private final int port = ServerProcess.freePort();
  private final int serverPort = ServerProcess.freePort();
  private final int gossipPort = ServerProcess.freePort();
  private final String name;
  private final String token;

  /** -1 for none. */
  private final int tlsPort;

  private List<String> options;

  private ConsulServer(String name, String token, int tlsPort, List<String> options) {
    this.name = name;
    this.token = token;
    this.tlsPort = tlsPort;
    this.options = options;
  }

  /**
   * Starts a server that is a cluster by itself.
   *
   * @param options for example {@code -hcl=limits { http_max_conns_per_client = 8 }}
   * @return a server that gives sessions
   */
  public static ConsulServer with(String... options) {
    return withToken("", options);
  }

  /**
   * Starts a server that is a cluster by itself and asks for tokens.
   *
   * @param token one that may do everything; empty for none
   * @param options how it is configured
   * @return a server that gives sessions
   */
  public static ConsulServer withToken(String token, String... options) {
    return started(token, -1, options);
  }

  /**
   * Starts a server that is a cluster by itself and speaks TLS with its clients; the endpoint for plain text stays.
   *
   * @param options for example {@code -hcl=tls { https { ... } }}
   * @return a server that gives sessions
   */
  public static ConsulServer withTls(String... options) {
    return started("", ServerProcess.freePort(), options);
  }

  private static ConsulServer started(String token, int tlsPort, String... options) {
    List<String> all = new ArrayList<>(List.of(options));
    all.add("-bootstrap-expect=1");
    ConsulServer server = new ConsulServer("m0", token, tlsPort, all);
    server.start();
    return server;
  }

  /** Makes a server of a cluster; starts nothing yet. */
  static ConsulServer member(String name) {
    return new ConsulServer(name, "", -1, List.of());
  }

  String gossip() {
    return "127.0.0.1:" + gossipPort;
  }

  String peer() {
    return "127.0.0.1:" + serverPort;
  }

  void begin(List<String> with) {
    options = with;
    launch();
  }

  private void launch() {
    List<String> arguments = new ArrayList<>(List.of(
        "agent",
        "-server",
        "-node=" + name,
        "-data-dir=" + folder().resolve("data"),
        "-bind=127.0.0.1",
        "-client=127.0.0.1",
        "-http-port=" + port,
        "-https-port=" + tlsPort,
        "-server-port=" + serverPort,
        "-serf-lan-port=" + gossipPort,
        "-serf-wan-port=-1",
        "-dns-port=-1",
        "-grpc-port=-1",
        "-grpc-tls-port=-1",
        "-log-level=warn",
        "-hcl=session_ttl_min = \"1s\"",
        "-hcl=performance { raft_multiplier = 1 }",
        "-hcl=disable_update_check = true",
        "-hcl=connect { enabled = false }",
        "-hcl=limits { http_max_conns_per_client = 2000 }"));
    arguments.addAll(options);
    process.start(arguments);
  }

  /** Starts the process again; does not wait until it answers, which may take other members. */
  void restartLater() {
    launch();
  }

  /** Starts the process, and waits until it gives sessions. */
  public void start() {
    launch();
    awaitHealth();
  }

  /** Waits until it gives sessions: it knows a leader, and a majority agrees. */
  public void awaitHealth() {
    process.awaitAnswer(this::isHealthy);
  }

  private boolean isHealthy() {
    try {
      String id = ask("PUT", "/v1/session/create", PROBE).replaceAll(".*\"ID\":\"|\".*", "");
      ask("PUT", "/v1/session/destroy/" + id, "");
      return true;
    } catch (IOException e) {
      // not there yet
      return false;
    }
  }

  /**
   * Asks it over HTTP, past the store.
   *
   * @param method for example {@code PUT}
   * @param path for example {@code /v1/session/list}
   * @param body empty for none
   * @return the answer
   */
  public String call(String method, String path, String body) {
    try {
      return ask(method, path, body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String ask(String method, String path, String body) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) URI.create("http://" + endpoint() + path).toURL().openConnection();
    connection.setConnectTimeout(MILLIS);
    connection.setReadTimeout(MILLIS);
    try {
      connection.setRequestMethod(method);
      if (!token.isEmpty()) {
        connection.setRequestProperty("X-Consul-Token", token);
      }
      if (!body.isEmpty()) {
        connection.setDoOutput(true);
        try (OutputStream out = connection.getOutputStream()) {
          out.write(body.getBytes(StandardCharsets.UTF_8));
        }
      }
      try (InputStream in = connection.getInputStream()) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
    } finally {
      connection.disconnect();
    }
  }

  /** Returns the leader's address, as far as it knows; empty if it knows none. */
  String leader() {
    try {
      return ask("GET", "/v1/status/leader", "").replace("\"", "").strip();
    } catch (IOException e) {
      // it is away
      return "";
    }
  }

  /**
   * Returns the server's version, as the matrix shows it.
   *
   * @return for example {@code Consul 1.22.7}
   */
  public String version() {
    Matcher found = VERSION.matcher(call("GET", "/v1/agent/self", ""));
    return "Consul " + (found.find() ? found.group(1) : "of an unknown version");
  }

  /**
   * Returns where it listens for clients, in plain text.
   *
   * @return {@code 127.0.0.1:PORT}
   */
  public String endpoint() {
    return "127.0.0.1:" + port;
  }

  /**
   * Returns its address.
   *
   * @return {@code consul://} and the endpoint; {@code consuls://} and that for TLS if it has one
   */
  public String uri() {
    return tlsPort < 0 ? "consul://" + endpoint() : "consuls://127.0.0.1:" + tlsPort;
  }

  /**
   * Returns its port.
   *
   * @return the port for clients, in plain text
   */
  public int port() {
    return port;
  }

  /**
   * Returns the server's folder.
   *
   * @return the folder, which goes with the server
   */
  public Path folder() {
    return process.folder();
  }

  /**
   * Says whether the process runs.
   *
   * @return whether it runs; a paused one does
   */
  public boolean isRunning() {
    return process.isRunning();
  }

  /** As kill -9: nothing is flushed, nobody is told. */
  public void kill() {
    process.kill();
  }

  /** Kills it and starts it again with the same data. */
  public void restart() {
    kill();
    start();
  }

  /** Stops it as {@code SIGSTOP} does: connections stay, and nothing is answered. */
  public void pause() {
    process.pause();
  }

  /** Lets it go on. */
  public void resume() {
    process.resume();
  }

  @Override
  public void close() {
    process.close();
  }
}
