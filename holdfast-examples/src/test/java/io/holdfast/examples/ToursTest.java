// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The tours say what they promise to show. */
@Tag("stores")
@Execution(ExecutionMode.CONCURRENT)
class ToursTest {
  @TempDir
  Path folder = Path.of("set before each test");

  private final List<ServerProcess> servers = new ArrayList<>();

  @AfterEach
  void stopServers() {
    servers.forEach(ServerProcess::close);
  }

  private String startRedis() throws InterruptedException {
    String port = Integer.toString(ServerProcess.freePort());
    ServerProcess server = ServerProcess.of("redis-server");
    servers.add(server);
    server.start(List.of(
        "--port", port, "--bind", "127.0.0.1", "--dir", server.folder().toString(), "--save", ""));
    String address = "127.0.0.1:" + port;
    FirstAnswer.of(server, "redis://" + address);
    return address;
  }

  private Started tour(Class<?> tour, String... arguments) throws Exception {
    List<String> line = new ArrayList<>(HourlyMessageCases.java(tour.getName()));
    line.addAll(List.of(arguments));
    return Started.start(folder, "tour", line);
  }

  @Test
  void redis() throws Exception {
    Started tour = tour(RedisTour.class, "redis://" + startRedis());
    assertThat(tour.exitCode()).as(Files.readString(tour.said())).isZero();
    List<String> said = Files.readAllLines(tour.said());
    assertThat(said.get(0))
        .matches("we hold it; it renews itself, and if we die it is free in 2\\d s");
    assertThat(said.subList(1, said.size()))
        .containsExactly(
            "the other machine tries: busy",
            "it waits 200 ms: still busy, and nothing is left",
            "it waits as long as it takes",
            "we have released it",
            "the other machine has it, with a greater token",
            "as a java.util.concurrent lock it is reentrant",
            "and free again: true");
  }

  /** With one of three gone. Servers that are new do not vote until the longest lease is over: 30 s here. */
  @Test
  void redlock() throws Exception {
    Started tour = tour(
        RedlockTour.class,
        "redlock://" + startRedis() + "," + startRedis() + "," + startRedis()
            + "?holdfast.max-lease=30s");
    Started.until("it waits for Enter", () -> tour.hasSaid("press Enter to go on"));
    servers.get(1).kill();
    tour.tell("");
    assertThat(tour.exitCode()).as(Files.readString(tour.said())).isZero();
    assertThat(Files.readAllLines(tour.said()))
        .hasSize(4)
        .endsWith("it is still ours", "released")
        .first()
        .asString()
        .matches("a majority has granted it, for at least 2\\d s, with token .*");
  }

  @Test
  void etcd() throws Exception {
    try (EtcdServer server = EtcdServer.with()) {
      Started tour = tour(EtcdTour.class, server.uri());
      assertThat(tour.exitCode()).as(Files.readString(tour.said())).isZero();
      assertThat(Files.readAllLines(tour.said()))
          // gRPC may remark on what it has found
          .containsSubsequence(
              "A leads",
              "B and C wait for their turn, in this order",
              "A has stepped down",
              "B leads, in a later term",
              "an operator deposes B: true",
              "B was told, and leads no more: true",
              "C leads, in a later term");
    }
  }

  @Test
  void zooKeeper() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.alone()) {
      Started tour = tour(ZooKeeperTour.class, "zookeeper://" + server.address());
      assertThat(tour.exitCode()).as(Files.readString(tour.said())).isZero();
      assertThat(Files.readAllLines(tour.said()))
          .containsExactly(
              "we hold it; five threads want it, and wait for 10 s at most",
              "a try does not wait: busy",
              "we release it",
              "turn 1 of five",
              "turn 2 of five",
              "turn 3 of five",
              "turn 4 of five",
              "turn 5 of five",
              "each had a greater token than the one before: true",
              "and free again: true");
    }
  }

  /** For less time than the command holds it, but for longer than the lease. */
  @Test
  void consul() throws Exception {
    try (ConsulServer server = ConsulServer.with()) {
      Started tour = tour(ConsulTour.class, server.uri(), "17");
      assertThat(tour.exitCode()).as(Files.readString(tour.said())).isZero();
      assertThat(Files.readAllLines(tour.said()))
          .containsExactly(
              "we hold it, with a lease of 15 s",
              "the other machine waits",
              "15 s have passed: still ours, and it still waits",
              "17 s have passed: still ours, and it still waits",
              "we have released it",
              "the other machine has it, with a greater token");
    }
  }
}
