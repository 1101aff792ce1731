// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.redis.RedisStore;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.sql.SqlKind;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** What the pages show on databases and on Redis does what they say. */
@Tag("stores")
class DocumentSnippetsServersTest {
  private final List<String> log = Collections.synchronizedList(new ArrayList<>());
  private final DocumentSnippets snippets = new DocumentSnippets((sql, arguments) -> 1, log);
  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    Collections.reverse(opened);
    for (AutoCloseable each : opened) {
      each.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void guardAndDatabaseLocks_changeTheRow(SqlKind kind) throws Exception {
    DataSource dataSource = kind.shared().dataSource();
    makeAccounts(dataSource);
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      snippets.guardedTransaction(dataSource, holdfast.lock("account:42"));
    }
    snippets.locksInTheDatabase(dataSource);
    assertThat(log)
        .containsExactly("withdrew from 1", "withdrew from 1", "withdrew from 1", "migrated true");
    assertThat(balance(dataSource)).isEqualTo(10);
  }

  @Test
  void onYourOwn_poolAndClientStayOpen() throws Exception {
    DataSource pool = SqlKind.POSTGRESQL.shared().dataSource();
    RedisClient client = redis();
    for (Holdfast holdfast : DocumentSnippets.onYourOwn(pool, client)) {
      try (holdfast;
          Hold hold = holdfast.lock("own").acquire()) {
        assertThat(hold.isValid()).isTrue();
      }
    }
    makeAccounts(pool);
    try (StatefulRedisConnection<String, String> connection = client.connect()) {
      assertThat(connection.sync().ping()).isEqualTo("PONG");
    }
  }

  private static void makeAccounts(DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("DROP TABLE IF EXISTS snippet_accounts");
      statement.execute("CREATE TABLE snippet_accounts (id INT PRIMARY KEY, balance INT NOT NULL)");
      statement.execute("INSERT INTO snippet_accounts VALUES (42, 100)");
    }
  }

  private static int balance(DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery("SELECT balance FROM snippet_accounts WHERE id = 42")) {
      assertThat(rows.next()).isTrue();
      return rows.getInt(1);
    }
  }

  @Test
  void theBeanOnThePool_isClosedWithTheContext() throws Exception {
    DataSource dataSource = SqlKind.POSTGRESQL.shared().dataSource();
    Hold hold;
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      context.registerBean(DataSource.class, () -> dataSource);
      context.register(DocumentSnippets.PoolConfiguration.class);
      context.refresh();
      hold = context.getBean(Holdfast.class).lock("bean").acquire();
      assertThat(hold.isValid()).isTrue();
    }
    assertThat(hold.isValid()).isFalse();
  }

  @Test
  void guardFormAndForce_onRedis() throws Exception {
    RedisClient client = redis();
    byte[] value = {1, 2, 3};
    try (Holdfast holdfast = Holdfast.builder().store(RedisStore.using(client)).build()) {
      DocumentSnippets.guardedValue(client, holdfast.lock("stock:7"), value);
      try (Hold hold = holdfast.lock("nightly").acquire()) {
        assertThat(DocumentSnippets.force(holdfast)).isTrue();
        assertThat(hold.token()).isPositive();
      }
    }
    try (StatefulRedisConnection<byte[], byte[]> connection =
        client.connect(ByteArrayCodec.INSTANCE)) {
      assertThat(connection.sync().get("stock:7".getBytes(StandardCharsets.UTF_8)))
          .isEqualTo(value);
    }
    snippets.form(client);
    assertThat(log).containsExactly("first ACCEPTED", "second GONE");
  }

  private RedisClient redis() throws InterruptedException {
    String port = Integer.toString(ServerProcess.freePort());
    ServerProcess server = ServerProcess.of("redis-server");
    opened.add(server);
    server.start(List.of(
        "--port", port, "--bind", "127.0.0.1", "--dir", server.folder().toString(), "--save", ""));
    RedisClient client = RedisClient.create("redis://127.0.0.1:" + port);
    opened.add(client);
    FirstAnswer.of(server, "redis://127.0.0.1:" + port);
    return client;
  }
}
