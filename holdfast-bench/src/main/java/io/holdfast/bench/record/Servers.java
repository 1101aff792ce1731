// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.record;

import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.ServerPrograms;
import io.holdfast.testkit.process.SkewedClock;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How to start each server; all keep on disk what they have acknowledged. */
final class Servers {
  private Servers() {}

  /** In the order of the record. */
  static Map<String, Supplier<StartedServer>> all() {
    Map<String, Supplier<StartedServer>> all = new LinkedHashMap<>();
    all.put("postgresql", () -> sql(SqlKind.POSTGRESQL));
    all.put("mariadb", () -> sql(SqlKind.MARIADB));
    all.put("mysql", () -> sql(SqlKind.MYSQL));
    all.put("redis", () -> redis("Redis", "redis-server"));
    all.put("valkey", () -> redis("Valkey", "valkey-server"));
    all.put("zookeeper", Servers::zooKeeper);
    all.put("etcd", Servers::etcd);
    all.put("consul", Servers::consul);
    return all;
  }

  private static StartedServer sql(SqlKind kind) {
    SqlServer server = kind.startWithAClock();
    return new StartedServer(
        server.version(),
        server.storeUri(),
        server.port(),
        server::restart,
        server::clockAhead,
        () -> ServerCounts.sql(server),
        server::close);
  }

  private static StartedServer redis(String product, String program) {
    ServerProcess process = ServerProcess.of(program);
    int port = ServerProcess.freePort();
    SkewedClock clock = SkewedClock.in(process.folder());
    List<String> arguments = List.of(
        "--port", Integer.toString(port),
        "--bind", "127.0.0.1",
        "--dir", process.folder().toString(),
        "--save", "",
        "--appendonly", "yes",
        "--appendfsync", "always");
    Runnable start = () -> {
      process.start(arguments, clock.environment());
      process.awaitAnswer(() -> isPong(port));
    };
    start.run();
    return new StartedServer(
        product + " " + redisVersion(program) + ", appendfsync always",
        "redis://127.0.0.1:" + port,
        port,
        () -> {
          process.kill();
          start.run();
        },
        clock::set,
        () -> ServerCounts.redis(port),
        process::close);
  }

  private static String redisVersion(String program) {
    Matcher version = Pattern.compile(" v=(\\S+)").matcher(ServerPrograms.version(program));
    return version.find() ? version.group(1) : "of an unknown version";
  }

  private static boolean isPong(int port) {
    try {
      return ServerCounts.line(port, "PING").equals("+PONG");
    } catch (UncheckedIOException e) {
      // not there yet
      return false;
    }
  }

  private static StartedServer zooKeeper() {
    ZooKeeperServer server = ZooKeeperServer.alone();
    return new StartedServer(
        server.version(),
        "zookeeper://" + server.address(),
        server.port(),
        server::restart,
        null,
        () -> ServerCounts.zooKeeper(server),
        server::close);
  }

  /** Go asks the kernel for the time, so that its clock cannot be moved without moving the machine's. */
  private static StartedServer etcd() {
    EtcdServer server = EtcdServer.with();
    return new StartedServer(
        server.version(),
        server.uri(),
        server.port(),
        server::restart,
        null,
        () -> ServerCounts.etcd(server),
        server::close);
  }

  private static StartedServer consul() {
    ConsulServer server = ConsulServer.with();
    return new StartedServer(
        server.version(),
        server.uri(),
        server.port(),
        server::restart,
        null,
        () -> ServerCounts.consul(server),
        server::close);
  }
}
