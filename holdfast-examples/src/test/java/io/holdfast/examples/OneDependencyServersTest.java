// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.sql.SqlKind;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** As {@link OneDependencyTest}, for the stores that are servers; those of SQL need their driver besides. */
@Tag("stores")
class OneDependencyServersTest {
  @TempDir
  private static Path folder = Path.of("set before all tests");

  private static UserProject redis;
  private static UserProject etcd;
  private static UserProject consul;
  private static UserProject postgres;
  private static UserProject mariadb;
  private static UserProject mySql;

  @BeforeAll
  static void compile() throws Exception {
    redis = new UserProject(folder.resolve("redis"), "holdfast-redis");
    etcd = new UserProject(folder.resolve("etcd"), "holdfast-etcd");
    consul = new UserProject(folder.resolve("consul"), "holdfast-consul");
    postgres =
        new UserProject(folder.resolve("postgresql"), "holdfast-jdbc", "org.postgresql:postgresql");
    mariadb = new UserProject(
        folder.resolve("mariadb"), "holdfast-jdbc", "org.mariadb.jdbc:mariadb-java-client");
    mySql =
        new UserProject(folder.resolve("mysql"), "holdfast-jdbc", "com.mysql:mysql-connector-j");
    UserProject.compile(folder, redis, etcd, consul, postgres, mariadb, mySql);
  }

  private static void acquires(UserProject project, String address) throws Exception {
    assertThat(project.run(address)).containsExactly("acquired");
  }

  @Test
  void redis() throws Exception {
    String port = Integer.toString(ServerProcess.freePort());
    try (ServerProcess server = ServerProcess.of("redis-server")) {
      server.start(List.of(
          "--port", port, "--bind", "127.0.0.1", "--dir", server.folder().toString()));
      acquires(redis, FirstAnswer.of(server, "redis://127.0.0.1:" + port));
    }
  }

  @Test
  void etcd() throws Exception {
    try (EtcdServer server = EtcdServer.with()) {
      acquires(etcd, server.uri());
    }
  }

  @Test
  void consul() throws Exception {
    try (ConsulServer server = ConsulServer.with()) {
      acquires(consul, server.uri());
    }
  }

  @Test
  void postgres() throws Exception {
    acquires(postgres, SqlKind.POSTGRESQL.shared().storeUri());
  }

  @Test
  void mariadb() throws Exception {
    acquires(mariadb, SqlKind.MARIADB.shared().storeUri());
  }

  @Test
  void mySql() throws Exception {
    acquires(mySql, SqlKind.MYSQL.shared().storeUri());
  }
}
