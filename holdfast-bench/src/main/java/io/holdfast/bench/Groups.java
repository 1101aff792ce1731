// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.sql.SqlKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Rows that are measured together, on one server. */
final class Groups {
  private static final String HIKARI = "com.zaxxer.hikari.HikariDataSource";
  private static final String SPRING_SQL =
      "org.springframework.integration.jdbc.lock.JdbcLockRegistry";
  private static final String SHEDLOCK = "net.javacrumbs.shedlock.core.SimpleLock";
  private static final String MARIADB = "org.mariadb.jdbc.Driver";
  private static final String TWO_UPDATES =
      "two conditional updates by primary key, prepared, each its own transaction";

  /** In this order: the engine alone comes first, before the compiler has seen a second store. */
  private static final Map<String, Group> ALL = new LinkedHashMap<>();

  static {
    ALL.put("memory", new Group((scale, folder, about) -> MemoryBench.run(scale), "", List.of()));
    ALL.put(
        "reentry",
        new Group(
            (scale, folder, about) -> ReentryBench.run(scale),
            "",
            List.of("org.apache.curator.framework.recipes.locks.InterProcessMutex")));
    ALL.put("keeping", new Group((scale, folder, about) -> KeepingBench.run(scale), "", List.of()));
    ALL.put(
        "sqlite",
        new Group(
            (scale, folder, about) -> SqliteBench.run(scale, folder),
            TWO_UPDATES,
            List.of("org.sqlite.SQLiteJDBCLoader")));
    ALL.put(
        "redis",
        new Group(
            (scale, folder, about) -> RedisBench.run(scale, about),
            "SET NX PX, and a script that deletes the key if it is still ours, through Lettuce;"
                + " between processes, a list's only element taken by BLPOP and put back by LPUSH",
            List.of(
                "org.redisson.Redisson",
                "org.springframework.integration.redis.util.RedisLockRegistry",
                "io.lettuce.core.RedisClient")));
    sql("postgresql", SqlKind.POSTGRESQL, "org.postgresql.Driver");
    sql("mariadb", SqlKind.MARIADB, MARIADB);
    sql("mysql", SqlKind.MYSQL, MARIADB);
    ALL.put(
        "etcd",
        new Group(
            (scale, folder, about) -> EtcdBench.run(scale, about),
            "one transaction that puts a key with a lease, and one deletion, through jetcd",
            List.of("io.etcd.jetcd.Client")));
    ALL.put(
        "consul",
        new Group(
            (scale, folder, about) -> ConsulBench.run(scale, about),
            "a transaction that locks a key with a session, and one that deletes it, through the"
                + " JDK's HTTP client; between processes, a write and a blocking query's answer;"
                + " where threads want one lock, one thread alone",
            List.of()));
    ALL.put(
        "zookeeper",
        new Group(
            (scale, folder, about) -> ZooKeeperBench.run(scale, about),
            "one ephemeral node created, and one deleted, through Curator's client",
            List.of(
                "org.apache.curator.framework.recipes.locks.InterProcessMutex",
                "org.springframework.integration.zookeeper.lock.ZookeeperLockRegistry",
                "org.apache.zookeeper.ZooKeeper")));
  }

  /** Measures, and says what the server is. */
  @FunctionalInterface
  private interface Task {
    List<Row> run(Scale scale, Path folder, Consumer<String> about) throws Exception;
  }

  /** What the floor is, and a class of each library whose version counts. */
  private record Group(Task task, String floor, List<String> classes) {}

  private Groups() {}

  private static void sql(String name, SqlKind kind, String driver) {
    ALL.put(
        name,
        new Group(
            (scale, folder, about) -> SqlBench.run(scale, kind, about),
            TWO_UPDATES,
            List.of(SPRING_SQL, SHEDLOCK, HIKARI, driver)));
  }

  static List<String> names() {
    return List.copyOf(ALL.keySet());
  }

  /** Measures a group; without its server there are no rows. */
  static Measured run(String name, Scale scale, Path folder) throws Exception {
    Group group = ALL.get(name);
    if (group == null) {
      throw new IllegalArgumentException("there is no group " + name);
    }
    List<String> about = new ArrayList<>();
    double before = Row.loadNow();
    List<Row> rows = group.task.run(scale, folder, server -> about.add("server: " + server));
    if (!group.classes.isEmpty()) {
      about.add("clients: " + Machine.versions(group.classes));
    }
    if (!group.floor.isEmpty()) {
      about.add("the floor: " + group.floor);
    }
    about.addAll(Machine.about(scale));
    return new Measured(name, about, before, Row.loadNow(), rows);
  }
}
