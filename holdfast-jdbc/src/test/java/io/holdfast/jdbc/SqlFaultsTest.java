// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.process.Tunnel;
import io.holdfast.testkit.sql.PostgresServer;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What goes wrong with a database server, and what follows. */
@Tag("all")
class SqlFaultsTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofSeconds(30)).build();
  private static final LockOptions BRIEF =
      LockOptions.builder().leaseFor(Duration.ofSeconds(4)).build();

  /** Every connection is cut: the hold goes on, and so does a wait. */
  @ParameterizedTest
  @EnumSource
  void killedConnections_areOpenedAgain(SqlKind kind) throws Exception {
    SqlServer server = kind.shared();
    server.dropTables();
    Renewals renewals = new Renewals();
    try (Holdfast one =
            renewals.of(SqlUnderTest.patient(SqlUnderTest.uri(server))).build();
        Holdfast other = SqlUnderTest.patient(SqlUnderTest.uri(server)).build()) {
      Hold hold = one.lock("cut", Renewals.OPTIONS).acquire();
      CompletableFuture<Hold> waiter = other.lock("cut", LONG).acquireAsync();
      killAll(kind, server);
      renewals.awaitTwo(hold);
      assertThat(hold.release()).isTrue();
      assertThat(Await.value(waiter).release()).isTrue();
    }
  }

  private static void killAll(SqlKind kind, SqlServer server) {
    if (kind == SqlKind.POSTGRESQL) {
      server.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'holdfast'");
    } else {
      for (String id :
          server.query("SELECT id FROM information_schema.processlist WHERE user = 'holdfast'")) {
        server.execute("KILL " + id);
      }
    }
  }

  /** Somebody keeps the row of one lock locked until its hold is lost: the client's other holds are none the worse. */
  @ParameterizedTest
  @EnumSource
  @Warns("lock=x0 .*hold lost")
  void rowThatStaysLocked_losesOneHold(SqlKind kind) throws Exception {
    SqlServer server = kind.shared();
    server.dropTables();
    try (Holdfast one = SqlUnderTest.patient(SqlUnderTest.uri(server)).build();
        Connection connection = server.connect();
        Statement statement = connection.createStatement()) {
      List<Hold> others = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        others.add(one.lock("x" + i, Renewals.OPTIONS).acquire());
      }
      Hold first = others.remove(0);
      connection.setAutoCommit(false);
      statement.executeUpdate("UPDATE holdfast_lock SET note = 'mine' WHERE name = 'x0'");
      Await.until("the one is lost", () -> first.state() == HoldState.LOST);
      connection.rollback();
      assertThat(others).extracting(Hold::state).containsOnly(HoldState.HELD);
      others.forEach(hold -> assertThat(hold.release()).isTrue());
    }
  }

  /** The first connection of a process breaks while its pool learns from it what it will not ask again. */
  @ParameterizedTest
  @EnumSource
  void firstConnectionBreaks_whileItIsSetUp_theNextOneIsGood(SqlKind kind) throws Exception {
    SqlServer server = kind.shared();
    try (Tunnel tunnel = new Tunnel(server.port());
        Holdfast one = Holdfast.builder()
            .store(SqlUnderTest.uri(server).replace(":" + server.port(), ":" + tunnel.port()))
            .connectLazily()
            .build()) {
      tunnel.breakOnceAt(kind == SqlKind.POSTGRESQL ? "ISOLATION" : "SELECT @@session.");
      Await.until("it can be locked", () -> {
        try {
          return one.lock("first", BRIEF).tryRun(hold -> {});
        } catch (StoreUnavailableException e) {
          return false;
        }
      });
    }
  }

  /** The server's clock steps forward: leases end, which is told, and who did nothing meanwhile can lock at once. */
  @ParameterizedTest
  @EnumSource
  @Warns("lock=x .*hold lost")
  void clockThatStepsForward_endsLeases(SqlKind kind) throws Exception {
    try (SqlServer server = kind.startWithAClock();
        Holdfast holder = SqlUnderTest.patient(SqlUnderTest.uri(server)).build();
        Holdfast idle = SqlUnderTest.patient(SqlUnderTest.uri(server)).build()) {
      Hold hold = holder.lock("x", LONG).acquire();
      server.clockAhead(Duration.ofMinutes(5));
      try (Hold next = idle.lock("x", LONG).acquire(Duration.ofSeconds(10))) {
        assertThat(next.token()).isGreaterThan(hold.token());
        Await.until("the loss is told", () -> hold.state() == HoldState.LOST);
        assertThatThrownBy(hold::ensureValid).isInstanceOf(HoldLostException.class);
        assertThat(next.isValid()).isTrue();
      }
    }
  }

  /** It steps back: holds go on, tokens grow, and nobody waits for ever. */
  @ParameterizedTest
  @EnumSource
  void clockThatStepsBack_keepsTokensGrowing(SqlKind kind) throws Exception {
    Renewals renewals = new Renewals();
    try (SqlServer server = kind.startWithAClock();
        Holdfast one =
            renewals.of(SqlUnderTest.patient(SqlUnderTest.uri(server))).build();
        Holdfast other = SqlUnderTest.patient(SqlUnderTest.uri(server)).build()) {
      Hold hold = one.lock("x", Renewals.OPTIONS).acquire();
      server.clockAhead(Duration.ofMinutes(-5));
      renewals.awaitTwo(hold);
      assertThat(hold.release()).isTrue();
      try (Hold next = other.lock("x", LONG).acquire(Duration.ofSeconds(10))) {
        assertThat(next.token()).isGreaterThan(hold.token());
      }
    }
  }

  /**
   * It steps back while the lease of a holder that died runs: whoever waits waits longer, by the step, and has the lock only
   * after that lease has ended by the server's clock.
   */
  @ParameterizedTest
  @EnumSource
  void clockThatStepsBack_makesWaitersOfADeadHolderWait(SqlKind kind) throws Exception {
    try (SqlServer server = kind.startWithAClock();
        Client dead = new Client(SqlUnderTest.uri(server), Ticker.system()).connect();
        Holdfast other = SqlUnderTest.patient(SqlUnderTest.uri(server)).build()) {
      Duration lease = BRIEF.leaseFor();
      while (!waitsForTheStep(server, dead, other, lease)) {
        lease = lease.multipliedBy(2);
      }
    }
  }

  /** False if the clock was moved so late that the lease may have ended before, which shows nothing. */
  private static boolean waitsForTheStep(
      SqlServer server, Client dead, Holdfast other, Duration lease) {
    Duration step = Duration.ofSeconds(4);
    String name = "x" + lease;
    String its = " FROM holdfast_lock WHERE name = '" + name + "'";
    long began = System.nanoTime();
    // nobody renews it
    long revision = dead.granted(dead.claim(name, lease, false)).revision();
    long untilUs = Long.parseLong(server.query("SELECT until_us" + its).get(0));
    CompletableFuture<Hold> waiter = other.lock(name, LONG).acquireAsync();
    server.clockAhead(step.negated());
    boolean inTime = System.nanoTime() - began < lease.toNanos();
    Hold next = Await.value(waiter);
    Duration waited = Duration.ofNanos(System.nanoTime() - began);
    long sinceUs = Long.parseLong(server.query("SELECT since_us" + its).get(0));
    server.clockAhead(Duration.ZERO);
    if (inTime) {
      assertThat(waited).isGreaterThan(lease.plus(step).minusMillis(100));
      assertThat(sinceUs).isGreaterThanOrEqualTo(untilUs);
    }
    assertThat(next.token() >> 8).isGreaterThan(revision);
    assertThat(next.release()).isTrue();
    return inTime;
  }

  /** A try of a client that has only heard an older time is late, and the next one is not. */
  @ParameterizedTest
  @EnumSource
  void lateAttempt_tellsTheTime(SqlKind kind) {
    try (SqlServer server = kind.startWithAClock();
        Client a = new Client(SqlUnderTest.uri(server), Ticker.system()).connect()) {
      server.clockAhead(Duration.ofMinutes(5));
      assertThat(a.attempt(a.claim("x"), Mode.TRY)).isInstanceOf(Answer.Late.class);
      assertThat(a.attempt(a.claim("x"), Mode.TRY)).isInstanceOf(Answer.Granted.class);
    }
  }

  /**
   * An attempt whose commit waits for a replica that does not come: an end is not final before it knows what became of
   * it.
   */
  @Test
  void postgres_commitThatHangs_isSeenByTheEnd() {
    try (SqlServer server = PostgresServer.with();
        Client a = new Client(SqlUnderTest.uri(server), Ticker.system()).connect()) {
      Claim first = a.claim("x");
      a.granted(first);
      a.end(first);
      server.execute(
          "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()");
      Await.until(
          "commits wait", () -> server.query("SHOW synchronous_standby_names").contains("nobody"));
      Claim hangs;
      Instant giveUp;
      CompletableFuture<Answer> answer;
      int millis = 150;
      do {
        // one that comes too late has nothing to commit
        millis *= 2;
        assertThat(millis).as("milliseconds that an attempt has").isLessThan(60_000);
        hangs = a.claim("x");
        giveUp = a.store.time().plusMillis(millis);
        answer = a.store.attempt(hangs, Mode.TRY, giveUp).toCompletableFuture();
        CompletableFuture<Answer> sent = answer;
        Await.until("its commit hangs, or it was late", () -> sent.isDone() || commitHangs(server));
      } while (answer.isDone());
      Instant over = giveUp.plusMillis(50);
      Await.until("its time is over", () -> a.store.time().isAfter(over));
      CompletionStage<Ended> ends = a.store.end(hangs, Duration.ZERO, giveUp);
      Await.until(
          "the end waits for it",
          () -> ends.toCompletableFuture().isDone()
              || server
                  .query("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
                  .contains("1"));
      server.execute("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()");
      Client.get(answer);
      Ended ended = Client.get(ends);
      if (ended.isFinal()) {
        assertThat(Client.get(a.store.inspect(LockKey.of("x")))).isEmpty();
      }
      assertThat(ended.outcome()).isEqualTo(Ended.Outcome.RELEASED);
    }
  }

  private static boolean commitHangs(SqlServer server) {
    return server
        .query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        .contains("1");
  }

  /** What fails in a task that was not asked for by anybody does not cost the thread. */
  @Test
  @Warns("store=test a task failed")
  void taskThatFails_doesNotEndTheLane() {
    SqlServer server = SqlKind.POSTGRESQL.shared();
    JdbcDialect dialect = new PostgresDialect(Durability.DATABASE);
    JdbcLane lane = JdbcLaneTest.lane(new GivenSource(server.dataSource()), dialect);
    lane.execute(() -> {
      throw new IllegalStateException("wanted by the test");
    });
    long now = Client.get(lane.submit(dialect::now));
    assertThat(now).isPositive();
    lane.close();
  }
}
