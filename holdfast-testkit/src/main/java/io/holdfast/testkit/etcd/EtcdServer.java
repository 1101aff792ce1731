// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.etcd;

import io.holdfast.testkit.Await;
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
 * An etcd server of a test's own: a child process with a folder and ports that stay the same over restarts. Its elections
 * are quicker than by default, so that its shortest lease is a second.
 */
public final class EtcdServer implements AutoCloseable {
  private static final int MILLIS = 3_000;
  private static final Pattern VERSION = Pattern.compile("\"etcdserver\":\"([^\"]+)\"");
  private static final Pattern NUMBER = Pattern.compile("\"(leader|member_id)\":\"(\\d+)\"");

  private final ServerProcess process = ServerProcess.of("etcd");
  private final int port = ServerProcess.freePort();
  private final int peerPort = ServerProcess.freePort();
  private final int plainPort = ServerProcess.freePort();
  private final String name;
  private final boolean isTls;
  private List<String> options;

  private EtcdServer(String name, boolean isTls, List<String> options) {
    this.name = name;
    this.isTls = isTls;
    this.options = options;
  }

  /**
   * Starts a server that is a cluster by itself.
   *
   * @param options for example {@code --quota-backend-bytes=16777216}
   * @return a server that answers
   */
  public static EtcdServer with(String... options) {
    return started(false, List.of(options));
  }

  /**
   * Starts a server that speaks TLS with its clients.
   *
   * @param options for example {@code --cert-file=server.pem}
   * @return a server that answers
   */
  public static EtcdServer withTls(String... options) {
    return started(true, List.of(options));
  }

  private static EtcdServer started(boolean isTls, List<String> options) {
    EtcdServer server = new EtcdServer("m0", isTls, options);
    List<String> all = new ArrayList<>(options);
    all.add("--initial-cluster=" + server.asPeer());
    server.options = all;
    server.start();
    return server;
  }

  /** Makes a server of a cluster; starts nothing yet. */
  static EtcdServer member(String name) {
    return new EtcdServer(name, false, List.of());
  }

  String asPeer() {
    return name + "=http://127.0.0.1:" + peerPort;
  }

  void begin(List<String> with) {
    options = with;
    launch();
  }

  private void launch() {
    String clients = (isTls ? "https" : "http") + "://127.0.0.1:" + port;
    List<String> arguments = new ArrayList<>(List.of(
        "--name=" + name,
        "--data-dir=" + folder().resolve("data"),
        "--listen-client-urls=" + clients,
        "--advertise-client-urls=" + clients,
        "--listen-metrics-urls=http://127.0.0.1:" + plainPort,
        "--listen-peer-urls=http://127.0.0.1:" + peerPort,
        "--initial-advertise-peer-urls=http://127.0.0.1:" + peerPort,
        "--initial-cluster-state=new",
        "--heartbeat-interval=50",
        "--election-timeout=500",
        "--logger=zap",
        "--log-level=warn"));
    arguments.addAll(options);
    process.start(arguments);
  }

  /** Starts the process again; does not wait until it answers, which may take other members. */
  void restartLater() {
    launch();
  }

  /** Starts the process, and waits until it answers. */
  public void start() {
    launch();
    awaitHealth();
  }

  /** Waits until it is healthy: it knows a leader, and a majority agrees. */
  public void awaitHealth() {
    process.awaitAnswer(this::isHealthy);
  }

  private boolean isHealthy() {
    try {
      return ask("http://127.0.0.1:" + plainPort + "/health", "").contains("\"true\"");
    } catch (IOException e) {
      // not there yet
      return false;
    }
  }

  /**
   * Asks it by its gateway for JSON, past the store.
   *
   * @param path for example {@code /v3/maintenance/status}
   * @param json the request
   * @return the answer
   */
  public String call(String path, String json) {
    try {
      return ask("http://127.0.0.1:" + port + path, json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Fills the database: returns when it takes no more for want of space. Give it a small {@code --quota-backend-bytes}.
   *
   * @param bytes how much is written at once
   */
  public void fill(int bytes) {
    String put = "{\"key\":\"ZmlsbA==\",\"value\":\"" + "x".repeat(bytes / 4 * 4) + "\"}";
    Await.until("the database is full", () -> {
      try {
        ask("http://127.0.0.1:" + port + "/v3/kv/put", put);
        return false;
      } catch (IOException e) {
        return call("/v3/maintenance/alarm", "{\"action\":\"GET\"}").contains("NOSPACE");
      }
    });
  }

  private static String ask(String url, String json) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
    connection.setConnectTimeout(MILLIS);
    connection.setReadTimeout(MILLIS);
    try {
      if (!json.isEmpty()) {
        connection.setRequestMethod("POST");
        connection.setDoOutput(true);
        try (OutputStream out = connection.getOutputStream()) {
          out.write(json.getBytes(StandardCharsets.UTF_8));
        }
      }
      try (InputStream in = connection.getInputStream()) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
    } finally {
      connection.disconnect();
    }
  }

  /** Says whether it is the leader, as far as it knows. */
  boolean leads() {
    try {
      String status = ask("http://127.0.0.1:" + port + "/v3/maintenance/status", "{}");
      Matcher found = NUMBER.matcher(status);
      String leader = "";
      String own = "";
      while (found.find()) {
        if (found.group(1).equals("leader")) {
          leader = found.group(2);
        } else {
          own = found.group(2);
        }
      }
      return !leader.isEmpty() && leader.equals(own);
    } catch (IOException e) {
      // it is away
      return false;
    }
  }

  /**
   * Returns the server's version.
   *
   * @return for example {@code etcd 3.7.3}
   */
  public String version() {
    Matcher found = VERSION.matcher(call("/version", ""));
    return "etcd " + (found.find() ? found.group(1) : "of an unknown version");
  }

  /**
   * Returns where it listens for clients.
   *
   * @return {@code 127.0.0.1:PORT}
   */
  public String endpoint() {
    return "127.0.0.1:" + port;
  }

  /**
   * Returns its address.
   *
   * @return {@code etcd://} or {@code etcds://} and the endpoint
   */
  public String uri() {
    return (isTls ? "etcds://" : "etcd://") + endpoint();
  }

  /**
   * Returns its port.
   *
   * @return the port for clients
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
