// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.ConfigurationException;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.sql.PgBouncer;
import io.holdfast.testkit.sql.PostgresServer;
import io.holdfast.testkit.sql.SqlKind;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A proxy that lends sessions out for a transaction each: pgbouncer in transaction mode. */
@Tag("stores")
class PostgresProxyTest {
  private static final int CYCLES = 60;
  private static final int SESSIONS = 4;

  /** So that the word that somebody waits lasts for eight seconds. */
  private static final String RARELY = "holdfast.poll=1s";

  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(5)).build();

  private final PostgresServer shared = (PostgresServer) SqlKind.POSTGRESQL.shared();

  @BeforeEach
  void empty() {
    shared.dropTables();
  }

  private static String uri(PgBouncer bouncer, PostgresServer server, String... parameters) {
    StringBuilder uri = new StringBuilder(bouncer.jdbcUrl())
        .append("?user=")
        .append(server.user())
        .append("&password=")
        .append(server.password());
    for (String each : parameters) {
      uri.append('&').append(each);
    }
    return uri.toString();
  }

  /** Each verb, more often than a driver prepares no statement for; on one session, and on several. */
  @ParameterizedTest(name = "sessions: {0}")
  @ValueSource(ints = {1, 3})
  void everyVerb_saysWhatItDid(int sessions) {
    try (PgBouncer bouncer = new PgBouncer(shared, sessions);
        Client a = new Client(uri(bouncer, shared, RARELY), Ticker.system()).connect();
        Client b = new Client(uri(bouncer, shared, RARELY), Ticker.system()).connect()) {
      for (int i = 0; i < 20; i++) {
        boolean fair = i % 2 == 1;
        Claim mine = a.claim("x" + i, Client.LEASE, fair);
        Claim theirs = b.claim("x" + i, Client.LEASE, fair);
        Grant grant = a.granted(mine);
        assertThat(a.granted(mine).revision()).isEqualTo(grant.revision());
        assertThat(b.busy(theirs).queued()).isEqualTo(fair);
        assertThat(((Kept.Held) a.keep(mine)).grant().othersWait()).isTrue();
        assertThat(a.end(mine).othersWait()).isTrue();
        assertThat(b.granted(theirs).revision()).isGreaterThan(grant.revision());
        b.end(theirs);
      }
      contend(List.of(a, b, a, b));
    }
  }

  /** Each grant excludes the others, and has a greater revision than the one before. */
  private static void contend(List<Client> clients) {
    List<Long> revisions = new ArrayList<>();
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (Client client : clients) {
      all.add(CompletableFuture.runAsync(() -> {
        for (int i = 0; i < CYCLES; i++) {
          Claim claim = client.claim("contended");
          Answer answer = client.attempt(claim, Mode.TRY);
          while (!(answer instanceof Answer.Granted)) {
            answer = client.attempt(claim, Mode.TRY);
          }
          synchronized (revisions) {
            revisions.add(((Answer.Granted) answer).grant().revision());
          }
          client.end(claim);
        }
      }));
    }
    all.forEach(CompletableFuture::join);
    assertThat(revisions).hasSize(clients.size() * CYCLES).isSorted().doesNotHaveDuplicates();
  }

  /** Nothing can be listened to, so that waiters poll, which is said once, and to the operator. */
  @Test
  @Warns("a proxy in front of PostgreSQL")
  void waiters_poll_whichIsSaidOnce() throws Exception {
    List<String> said = new CopyOnWriteArrayList<>();
    Logger logger = Logger.getLogger(PostgresListener.class.getName());
    Handler handler = handler(said);
    logger.addHandler(handler);
    try (PgBouncer bouncer = new PgBouncer(shared, 3);
        Holdfast holder = SqlUnderTest.patient(uri(bouncer, shared)).build();
        Holdfast other = SqlUnderTest.patient(uri(bouncer, shared)).build()) {
      Hold hold = holder.lock("x", LONG).acquire();
      long began = System.nanoTime();
      CompletableFuture<Hold> waiter = other.lock("x", LONG).acquireAsync();
      Await.until("it is said", () -> !said.isEmpty());
      assertThat(Duration.ofNanos(System.nanoTime() - began))
          .as("what stands still for two seconds is no proxy")
          .isGreaterThan(Duration.ofSeconds(5));
      hold.release();
      Await.value(waiter).release();
      for (int i = 0; i < 5; i++) {
        Hold again = holder.lock("x", LONG).acquire();
        CompletableFuture<Hold> next = other.lock("x", LONG).acquireAsync();
        Await.until(
            "it waits",
            () -> shared.query("SELECT wanted_us > 0 FROM holdfast_lock").contains("t"));
        again.release();
        Await.value(next).release();
      }
      assertThat(said).hasSize(1).first().asString().contains("proxy", "poll");
      try (Client doctor = new Client(uri(bouncer, shared), Ticker.system()).connect()) {
        assertThat(Client.get(doctor.store.diagnose()))
            .filteredOn(finding -> finding.subject().equals("wake-ups"))
            .singleElement()
            .matches(finding -> finding.level() == Finding.Level.WARNING
                && finding.message().contains("waiters poll"));
      }
    } finally {
      logger.removeHandler(handler);
    }
  }

  private static Handler handler(List<String> said) {
    return new Handler() {
      @Override
      public void publish(LogRecord line) {
        if (line.getLevel().intValue() >= java.util.logging.Level.WARNING.intValue()) {
          said.add(line.getMessage());
        }
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
  }

  /** What one client sets, or prepares, the next one would find in the session. */
  @Test
  void nothing_isLeftInASession() throws Exception {
    try (PostgresServer server = PostgresServer.with("default_transaction_isolation=serializable");
        PgBouncer bouncer = new PgBouncer(server, 1)) {
      try (Client a = new Client(
                  uri(bouncer, server, "holdfast.durability=relaxed"), Ticker.system())
              .connect();
          Client b = new Client(uri(bouncer, server), Ticker.system()).connect()) {
        contend(List.of(a, b));
        try (Connection connection = bouncer.dataSource().getConnection()) {
          assertThat(one(connection, "SHOW transaction_isolation")).isEqualTo("serializable");
          assertThat(one(connection, "SHOW synchronous_commit")).isEqualTo("on");
          assertThat(one(connection, "SELECT count(*) FROM pg_prepared_statements"))
              .isEqualTo("0");
        }
      }
    }
  }

  /** The application's own connection goes back to it as it came. */
  @Test
  void driversThreshold_isPutBack() throws Exception {
    try (PgBouncer bouncer = new PgBouncer(shared, 2);
        Connection connection = bouncer.dataSource().getConnection()) {
      Pgjdbc.prepareThreshold(connection, 7);
      JdbcDialect dialect = new PostgresDialect(Durability.DATABASE);
      JdbcDialect.Setup setup = dialect.setup(connection);
      assertThat(Pgjdbc.prepareThreshold(connection)).isZero();
      setup.last().run();
      assertThat(Pgjdbc.prepareThreshold(connection)).isEqualTo(7);
      try (Connection direct = shared.connect()) {
        new PostgresDialect(Durability.DATABASE).setup(direct).last().run();
        assertThat(Pgjdbc.prepareThreshold(direct)).isEqualTo(5);
      }
    }
  }

  /** There is no session that could hold a lock. */
  @Test
  void sessionLock_isRefused() throws Exception {
    try (PgBouncer bouncer = new PgBouncer(shared, 3)) {
      SessionLock lock = DataLocks.of(bouncer.dataSource()).sessionLock("x");
      assertThatThrownBy(() -> lock.tryAcquire().ifPresent(SessionHold::close))
          .isInstanceOf(ConfigurationException.class)
          .hasMessageContainingAll("proxy", "\"x\"", "session mode");
      assertThatThrownBy(() -> lock.acquire().close()).isInstanceOf(ConfigurationException.class);
      assertThat(shared.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"))
          .isEmpty();
    }
  }

  /** Whether it keeps sessions is asked once, and no thread that waits for that has a connection that another one needs. */
  @Test
  void proxyThatKeepsSessions_isAskedOnce_andAsManyHoldAsThePoolHas() throws Exception {
    HikariConfig config = new HikariConfig();
    config.setMaximumPoolSize(SESSIONS);
    config.setConnectionTimeout(3_000);
    config.setAutoCommit(false);
    try (PgBouncer bouncer = PgBouncer.inSessionMode(shared, SESSIONS)) {
      config.setDataSource(bouncer.dataSource());
      try (HikariDataSource pool = new HikariDataSource(config)) {
        CountingDataSource source = new CountingDataSource(pool);
        DataLocks locks = DataLocks.of(source);
        holdAll(locks).forEach(SessionHold::close);
        int asked = source.opened();
        holdAll(locks).forEach(SessionHold::close);
        assertThat(source.opened()).isEqualTo(asked + SESSIONS);
        try (Connection connection = pool.getConnection()) {
          assertThat(connection.getAutoCommit()).isFalse();
          assertThat(connection.getNetworkTimeout()).isZero();
        }
      }
    }
  }

  private static List<SessionHold> holdAll(DataLocks locks) throws Exception {
    CyclicBarrier together = new CyclicBarrier(SESSIONS);
    List<CompletableFuture<SessionHold>> all = new ArrayList<>();
    for (int i = 0; i < SESSIONS; i++) {
      SessionLock lock = locks.sessionLock("x" + i);
      all.add(CompletableFuture.supplyAsync(
          () -> {
            try {
              together.await();
            } catch (InterruptedException | BrokenBarrierException e) {
              throw new IllegalStateException(e);
            }
            return lock.tryAcquire().orElseThrow();
          },
          task -> new Thread(task).start()));
    }
    List<SessionHold> holds = new ArrayList<>();
    for (CompletableFuture<SessionHold> each : all) {
      holds.add(Await.value(each));
    }
    return holds;
  }

  /** What has asked listens no more: a pool's connection would collect what is said for ever. */
  @Test
  void probeThatIsSwallowed_leavesNothingListening() throws Exception {
    try (Connection connection = shared.connect()) {
      assertThat(PostgresProbe.comesBack(connection, channel -> {}, Ticker.system()))
          .isFalse();
      assertThatThrownBy(() -> one(connection, "SELECT pg_listening_channels()"))
          .isInstanceOf(AssertionError.class);
    }
  }

  private static String one(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      assertThat(rows.next()).isTrue();
      return rows.getString(1);
    }
  }
}
