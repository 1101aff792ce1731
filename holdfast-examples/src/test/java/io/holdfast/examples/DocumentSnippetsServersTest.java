// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StaleTokenException;
import io.holdfast.jdbc.FencingGuard;
import io.holdfast.jdbc.JdbcStore;
import io.holdfast.redis.RedisStore;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.sql.SqlKind;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.io.IOException;
import java.io.StringReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

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

  /** The value is in the page's property, and is the server's own. */
  @ParameterizedTest
  @EnumSource
  void aPoolWithTheIsolationOfThePage_isThatOfTheServer(SqlKind kind) throws Exception {
    DataSource server = kind.shared().dataSource();
    HikariConfig config = new HikariConfig(propertiesOf(Path.of("../docs/guide.md")));
    assertThat(config.getTransactionIsolation()).isEqualTo("TRANSACTION_READ_COMMITTED");
    if (kind != SqlKind.POSTGRESQL) {
      config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
    }
    config.setDataSource(server);
    try (HikariDataSource pool = new HikariDataSource(config);
        Connection own = server.getConnection()) {
      try (Holdfast holdfast = Holdfast.builder().store(JdbcStore.using(pool)).build();
          Hold hold = holdfast.lock("pool").acquire()) {
        assertThat(hold.isValid()).isTrue();
      }
      try (Connection connection = pool.getConnection()) {
        assertThat(connection.getTransactionIsolation()).isEqualTo(own.getTransactionIsolation());
      }
    }
  }

  /** As Spring Boot does: without the prefix, each hyphen and the letter behind it become a capital letter. */
  private static Properties propertiesOf(Path page) throws IOException {
    Properties shown = new Properties();
    for (Markdown.Block block : Markdown.read(page).blocks()) {
      if (block.language().equals("properties")) {
        shown.load(new StringReader(block.code()));
      }
    }
    Properties properties = new Properties();
    for (String name : shown.stringPropertyNames()) {
      assertThat(name).startsWith("spring.datasource.hikari.");
      String field = Pattern.compile("-(.)")
          .matcher(name.substring(name.lastIndexOf('.') + 1))
          .replaceAll(found -> found.group(1).toUpperCase(Locale.ROOT));
      properties.setProperty(field, shown.getProperty(name));
    }
    return properties;
  }

  /** In one statement on PostgreSQL. */
  @Test
  void anInsertWithAStaleToken_changesNothing() throws Exception {
    DataSource dataSource = SqlKind.POSTGRESQL.shared().dataSource();
    makeStock(dataSource);
    DocumentSnippets stock =
        new DocumentSnippets((sql, arguments) -> update(dataSource, sql, arguments), log);
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      DistributedLock lock = holdfast.lock("stock:7");
      Hold late = lock.acquire();
      late.close();
      try (Hold next = lock.acquire()) {
        assertThat(stock.put(next, 7, 5)).isTrue();
        assertThat(stock.put(next, 7, 4)).isTrue();
        assertThat(stock.put(late, 7, 6)).isFalse();
        assertThat(pieces(dataSource)).isEqualTo(4);
        // a row that is deleted forgets the token
        assertThat(update(
                dataSource, "DELETE FROM stock WHERE item = ? AND fence <= ?", 7, late.token()))
            .isZero();
        assertThat(update(
                dataSource, "DELETE FROM stock WHERE item = ? AND fence <= ?", 7, next.token()))
            .isOne();
        assertThat(stock.put(late, 7, 6)).isTrue();
      }
    }
  }

  /** The row is as it was, but the count does not say so. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "POSTGRESQL")
  void theOneStatementOfMySql_doesNotTellThatTheTokenIsStale(SqlKind kind) throws Exception {
    DataSource dataSource = kind.shared().dataSource();
    makeStock(dataSource);
    String put = "INSERT INTO stock (item, pieces, fence) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE"
        + " pieces = IF(fence <= VALUES(fence), VALUES(pieces), pieces),"
        + " fence = GREATEST(fence, VALUES(fence))";
    int inserted = update(dataSource, put, 7, 5, 20L);
    int stale = update(dataSource, put, 7, 6, 10L);
    assertThat(pieces(dataSource)).isEqualTo(5);
    assertThat(stale).isEqualTo(inserted);
  }

  /** What the page has for rows that come and go. */
  @ParameterizedTest
  @EnumSource
  void theGuard_remembersTheTokenOfARowThatIsGone(SqlKind kind) throws Exception {
    DataSource dataSource = kind.shared().dataSource();
    makeStock(dataSource);
    FencingGuard.createTable(dataSource);
    update(dataSource, "INSERT INTO stock (item, pieces) VALUES (?, ?)", 7, 5);
    try (Connection connection = dataSource.getConnection()) {
      FencingGuard.reset(connection, "stock:7");
      connection.setAutoCommit(false);
      FencingGuard.check(connection, "stock:7", 20);
      assertThat(update(connection, "DELETE FROM stock WHERE item = ?", 7)).isOne();
      connection.commit();
      assertThatThrownBy(() -> FencingGuard.check(connection, "stock:7", 10))
          .isInstanceOf(StaleTokenException.class);
      connection.rollback();
    }
  }

  private static void makeStock(DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("DROP TABLE IF EXISTS stock");
      statement.execute("CREATE TABLE stock (item INT PRIMARY KEY, pieces INT NOT NULL,"
          + " fence BIGINT NOT NULL DEFAULT 0)");
    }
  }

  private static int pieces(DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT pieces FROM stock WHERE item = 7")) {
      assertThat(rows.next()).isTrue();
      return rows.getInt(1);
    }
  }

  private static int update(DataSource dataSource, String sql, Object... arguments) {
    try (Connection connection = dataSource.getConnection()) {
      return update(connection, sql, arguments);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static int update(Connection connection, String sql, Object... arguments)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < arguments.length; i++) {
        statement.setObject(i + 1, arguments[i]);
      }
      return statement.executeUpdate();
    }
  }

  @Test
  void theBeanOnRedis_releasesItsHoldsWhenTheContextIsClosed() throws Exception {
    String address = redisAddress();
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      context
          .getEnvironment()
          .getPropertySources()
          .addFirst(new MapPropertySource("test", Map.of("spring.data.redis.url", address)));
      context.register(DocumentSnippets.RedisConfiguration.class);
      context.refresh();
      acquire(context);
    }
    try (Holdfast next = Clients.connect(address)) {
      assertThat(next.lock("bean").tryAcquire()).isPresent();
    }
  }

  /** Spring ends the factory's client before it closes the bean. */
  @Test
  void aBeanOnTheClientOfSpringData_cannotReleaseItsHolds() throws Exception {
    String address = redisAddress();
    int port = URI.create(address).getPort();
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      context.registerBean(
          LettuceConnectionFactory.class,
          () -> new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port)));
      context.registerBean(Holdfast.class, () -> {
        LettuceConnectionFactory factory = context.getBean(LettuceConnectionFactory.class);
        RedisClient client = (RedisClient) factory.getRequiredNativeClient();
        return Holdfast.builder()
            .store(RedisStore.using(client))
            .clientName("billing")
            .build();
      });
      context.refresh();
      acquire(context);
    }
    try (Holdfast next = Clients.connect(address)) {
      assertThat(next.admin().inspect("bean").orElseThrow().holder())
          .hasValueSatisfying(holder -> assertThat(holder.client()).isEqualTo("billing"));
    }
  }

  private static void acquire(AnnotationConfigApplicationContext context)
      throws InterruptedException {
    LockOptions options = LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();
    Hold hold = context.getBean(Holdfast.class).lock("bean", options).acquire();
    assertThat(hold.isValid()).isTrue();
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
    RedisClient client = RedisClient.create(redisAddress());
    opened.add(client);
    return client;
  }

  private String redisAddress() throws InterruptedException {
    String port = Integer.toString(ServerProcess.freePort());
    ServerProcess server = ServerProcess.of("redis-server");
    opened.add(server);
    server.start(List.of(
        "--port", port, "--bind", "127.0.0.1", "--dir", server.folder().toString(), "--save", ""));
    String address = "redis://127.0.0.1:" + port;
    FirstAnswer.of(server, address);
    return address;
  }
}
