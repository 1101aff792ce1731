// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import io.holdfast.bench.RedisServers;
import io.holdfast.bench.Wanted;
import io.holdfast.spi.Stores;
import io.holdfast.testkit.FaultyStore;
import io.holdfast.testkit.Verb;
import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.sql.PostgresServer;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** The stores that the guard measures, each with whoever counts best what it is asked: the server itself. */
@SuppressWarnings("ImmutableEnumChecker")
enum Subjects {
  MEMORY("memory", Subjects::memory, () -> true),
  SQLITE("SQLite", Subjects::sqlite, () -> true),
  POSTGRESQL("PostgreSQL", Subjects::postgresql, SqlKind.POSTGRESQL::isThere),
  MARIADB("MariaDB", () -> mySql(SqlKind.MARIADB), SqlKind.MARIADB::isThere),
  MYSQL("MySQL", () -> mySql(SqlKind.MYSQL), SqlKind.MYSQL::isThere),
  REDIS("Redis", Subjects::redis, RedisServers::areThere),
  REDLOCK("Redlock", Subjects::redlock, RedisServers::areThere),
  ZOOKEEPER("ZooKeeper", Subjects::zooKeeper, () -> true),
  ETCD("etcd", Subjects::etcd, () -> ServerProcess.isThere("etcd")),
  CONSUL("Consul", Subjects::consul, () -> ServerProcess.isThere("consul"));

  private static final String WATCH = "\"Watch\"";
  private static final Pattern STREAMS = Pattern.compile("\"(LeaseKeepAlive|Watch)\"");

  private final String title;
  private final Supplier<Subject> start;
  private final BooleanSupplier isThere;

  Subjects(String title, Supplier<Subject> start, BooleanSupplier isThere) {
    this.title = title;
    this.start = start;
    this.isThere = isThere;
  }

  /** As the table has it. */
  String title() {
    return title;
  }

  /** Whether its server can be started; true where it must be. */
  boolean isMeasured() {
    return Wanted.isMeasured(isThere.getAsBoolean());
  }

  /** Starts its server. */
  Subject start() {
    return start.get();
  }

  /** The map has no server that counts, so it is what the engine asks of the store. */
  private static Subject memory() {
    List<FaultyStore> stores = new CopyOnWriteArrayList<>();
    return new Subject(
        () -> {
          FaultyStore store = new FaultyStore(Stores.open("memory:guard"));
          stores.add(store);
          return store;
        },
        () -> Map.of(
            "requests",
            stores.stream()
                .flatMapToInt(
                    store -> Arrays.stream(Verb.values()).mapToInt(store.faults()::requests))
                .asLongStream()
                .sum()),
        () -> {});
  }

  private static Subject sqlite() {
    try {
      Path folder = Files.createTempDirectory("holdfast-guard");
      Path file = folder.resolve("locks.db");
      return new Subject(
          () -> Stores.open("sqlite:" + file),
          new WalCounter(folder.resolve("locks.db-wal")),
          () -> remove(folder));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void remove(Path folder) {
    try (var files = Files.list(folder)) {
      for (Path each : files.toList()) {
        Files.delete(each);
      }
      Files.delete(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What its sessions count is told late, its log at once. */
  private static Subject postgresql() {
    PostgresServer server = PostgresServer.with("log_statement=all");
    Path log = server.folder().resolve("log");
    LinesCounter listens = new LinesCounter(log, "listens", ": LISTEN \"(?!holdfast_probe_)");
    return new Subject(
        () -> Stores.open(server.storeUri()),
        new LinesCounter(log, "statements", "LOG:  (execute [^:]*|statement): "),
        false,
        () -> listens.now().getOrDefault("listens", 0L) > 0,
        server::close);
  }

  private static Subject mySql(SqlKind kind) {
    SqlServer server = kind.start();
    QuestionsCounter counter = new QuestionsCounter(server);
    return new Subject(() -> Stores.open(server.storeUri()), counter, () -> {
      counter.close();
      server.close();
    });
  }

  private static Subject redis() {
    RedisServers server = RedisServers.start(1);
    return new Subject(() -> Stores.open(server.uri()), server::now, server::close);
  }

  private static Subject redlock() {
    RedisServers nodes = RedisServers.start(3);
    String uri = nodes.redlockUri();
    return new Subject(() -> Stores.open(uri), nodes::now, true, () -> true, nodes::close);
  }

  private static Subject zooKeeper() {
    ZooKeeperServer server = ZooKeeperServer.alone();
    return new Subject(
        () -> Stores.open("zookeeper://" + server.address()),
        new ZooKeeperCounter(server),
        server::close);
  }

  private static Subject etcd() {
    EtcdServer server = EtcdServer.with();
    return new Subject(
        () -> Stores.open(server.uri()), () -> etcd(server.call("/metrics", "")), server::close);
  }

  /**
   * Messages, since what a stream is asked is no call of its own; but not those that the client sends from time to time. A
   * watch is a stream with one message: streams are counted, since from 3.6 on the end of one is a message to the server.
   */
  private static Map<String, Long> etcd(String metrics) {
    Map<String, Long> counts = new LinkedHashMap<>();
    String received = "grpc_server_msg_received_total{";
    counts.put(
        "messages",
        sum(metrics, each -> each.startsWith(received) && !STREAMS.matcher(each).find())
            + sum(
                metrics,
                each -> each.startsWith("grpc_server_started_total{") && each.contains(WATCH)));
    counts.put(
        "proposals",
        sum(metrics, each -> each.startsWith("etcd_server_proposals_committed_total ")));
    return counts;
  }

  private static long sum(String metrics, Predicate<String> wanted) {
    return metrics
        .lines()
        .filter(wanted)
        .mapToLong(each -> (long) Double.parseDouble(each.substring(each.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** It counts in its log when an answer is ready, which for one that waits is late. */
  private static Subject consul() {
    ConsulServer server = ConsulServer.with("-log-level=debug");
    return new Subject(
        () -> Stores.open(server.uri()),
        new LinesCounter(server.folder().resolve("log"), "requests", "Request finished: "),
        server::close);
  }
}
