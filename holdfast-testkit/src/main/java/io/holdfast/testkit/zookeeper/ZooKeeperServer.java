// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.zookeeper;

import io.holdfast.testkit.process.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A ZooKeeper server of our own: a JVM with a folder and ports that stay the same over restarts, which listens on
 * loopback. The class path of this JVM must have ZooKeeper and what its server needs.
 */
public final class ZooKeeperServer implements AutoCloseable {
  /** The length of a tick, in milliseconds. */
  public static final int TICK_MILLIS = 1000;

  /** The shortest session, in milliseconds: a machine that stalls for a moment does not end it. */
  public static final int SHORTEST_SESSION_MILLIS = 3000;

  private static final int ANSWER_MILLIS = 5000;

  private final ServerProcess process = ServerProcess.java();
  private final int port = ServerProcess.freePort();
  private final int id;
  private List<String> settings = List.of();

  ZooKeeperServer(int id) {
    this.id = id;
  }

  /**
   * Starts a server that is alone.
   *
   * @param settings more lines for its configuration; one that begins with {@code -D} is an option of its JVM
   * @return a server that answers
   */
  public static ZooKeeperServer alone(String... settings) {
    ZooKeeperServer server = new ZooKeeperServer(0);
    server.configure(List.of(settings));
    server.start();
    return server;
  }

  /** Takes more lines for its configuration, from the next start on. */
  void configure(List<String> more) {
    settings = List.copyOf(more);
  }

  /**
   * Returns where it listens for clients.
   *
   * @return host and port
   */
  public String address() {
    return "127.0.0.1:" + port;
  }

  /**
   * Returns the port that it listens on for clients.
   *
   * @return a port of this machine
   */
  public int port() {
    return port;
  }

  /**
   * Returns the server's process.
   *
   * @return the process
   */
  public ServerProcess process() {
    return process;
  }

  /**
   * Returns the server's name and version, as the matrix shows it.
   *
   * @return for example {@code ZooKeeper 3.9.5}
   */
  public String version() {
    String said = ask("srvr");
    int from = said.indexOf("version: ") + "version: ".length();
    return "ZooKeeper " + said.substring(from, said.indexOf('-', from));
  }

  /**
   * Says whether it serves: alone, or as a member of a majority.
   *
   * @return whether it answers that it does
   */
  public boolean serves() {
    return ask("srvr").contains("Mode: ");
  }

  /**
   * Says whether it leads its ensemble.
   *
   * @return whether it answers that it does
   */
  public boolean leads() {
    return ask("srvr").contains("Mode: leader");
  }

  /**
   * Asks it one of its four letter words.
   *
   * @param word which one; it must be allowed
   * @return what it says; empty if it does not answer
   */
  public String ask(String word) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), ANSWER_MILLIS);
      socket.setSoTimeout(ANSWER_MILLIS);
      socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      // not there yet, or paused
      return "";
    }
  }

  /** Starts the process, and waits until it serves. */
  public void start() {
    startOnly();
    awaitServing();
  }

  /** Starts the process. */
  void startOnly() {
    List<String> lines = new ArrayList<>(List.of(
        "tickTime=" + TICK_MILLIS,
        "minSessionTimeout=" + SHORTEST_SESSION_MILLIS,
        "maxSessionTimeout=900000",
        "maxClientCnxns=0",
        "admin.enableServer=false",
        "clientPortAddress=127.0.0.1",
        "clientPort=" + port,
        "dataDir=" + process.folder().resolve("data")));
    settings.stream().filter(each -> !each.startsWith("-D")).forEach(lines::add);
    try {
      Files.createDirectories(process.folder().resolve("data"));
      Files.writeString(process.folder().resolve("data").resolve("myid"), id + "\n");
      Files.write(process.folder().resolve("zoo.cfg"), lines);
    } catch (IOException e) {
      throw new UncheckedIOException("the server's folder cannot be written", e);
    }
    List<String> command = new ArrayList<>(List.of(
        "-Xmx96m",
        "-Xshare:auto",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Dzookeeper.jmx.log4j.disable=true"));
    settings.stream().filter(each -> each.startsWith("-D")).forEach(command::add);
    command.addAll(List.of(
        "-cp",
        System.getProperty("java.class.path"),
        "org.apache.zookeeper.server.quorum.QuorumPeerMain",
        process.folder().resolve("zoo.cfg").toString()));
    process.start(command);
  }

  /** Makes its ensemble believe that it has had so many leaders, before its first start. */
  void epoch(long leaders) {
    Path data = process.folder().resolve("data").resolve("version-2");
    try {
      Files.createDirectories(data);
      Files.writeString(data.resolve("acceptedEpoch"), Long.toString(leaders));
    } catch (IOException e) {
      throw new UncheckedIOException("the server's folder cannot be written", e);
    }
  }

  void awaitServing() {
    process.awaitAnswer(this::serves);
  }

  /** As kill -9: nothing is flushed, nobody is told. */
  public void kill() {
    process.kill();
  }

  /** Kills the server, and starts it again. */
  public void restart() {
    kill();
    start();
  }

  @Override
  public void close() {
    process.close();
  }
}
