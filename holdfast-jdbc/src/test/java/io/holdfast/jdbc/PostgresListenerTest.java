// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.contract.Rounds;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.sql.PostgresServer;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Waiters on PostgreSQL hear of releases. Looks are so rare here, 20 s apart, that none of them is why one is told in
 * time.
 */
@Tag("stores")
class PostgresListenerTest {
  private static final String RARELY = "holdfast.poll=10s";
  private static final Duration SOON = Duration.ofSeconds(8);
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(5)).build();

  /** Connections that listen rest after this statement, or after the question whether they still do. */
  private static final String LISTENING = "SELECT pid FROM pg_stat_activity WHERE state = 'idle'"
      + " AND (query LIKE 'LISTEN \"holdfast\\_%' AND query NOT LIKE '%probe%'"
      + " OR query LIKE 'SELECT ''holdfast\\_'' ||%')";

  private static final String WORD_OF = "SELECT wanted_by FROM holdfast_lock WHERE wanted_us > 0";

  /** Looks of the last moments: when there are none, the next one is 20 s away. */
  private static final String LOOKS = "SELECT 1 FROM pg_stat_activity"
      + " WHERE query LIKE 'SELECT name, rev%' AND query_start > clock_timestamp() - interval '700 ms'";

  private static final int QUESTIONS = 20;

  private final SqlServer shared = SqlKind.POSTGRESQL.shared();

  @BeforeEach
  void empty() {
    shared.dropTables();
  }

  private static Holdfast connect(SqlServer server) {
    return SqlUnderTest.patient(SqlUnderTest.uri(server, RARELY)).build();
  }

  private static List<String> listeners(SqlServer server) {
    return server.query(LISTENING);
  }

  private static String awaitListener(SqlServer server) {
    Await.until("one listens", () -> listeners(server).size() == 1);
    awaitNoLooks(server);
    // it may just be asking whether it still does
    return Await.present("one listens", () -> listeners(server).stream().findFirst());
  }

  /**
   * Waits until there is no look for many questions in a row: a machine that stands still does not look, nor ask. For plain
   * claims alone: for fair ones the looks only become rarer.
   */
  private static void awaitNoLooks(SqlServer server) {
    AtomicInteger inARow = new AtomicInteger();
    Await.until("there are no looks any more", () -> {
      if (!server.query(LOOKS).isEmpty()) {
        inARow.set(0);
      }
      return inARow.incrementAndGet() > QUESTIONS;
    });
  }

  /** Waits for a hold, for a shorter time than the next look is away. */
  private static Hold soon(CompletableFuture<Hold> waiter) {
    return waiter.orTimeout(SOON.toMillis(), TimeUnit.MILLISECONDS).join();
  }

  /** Without an engine, which would ask again by itself every few seconds. */
  private Client client() {
    return new Client(SqlUnderTest.uri(shared, RARELY), Ticker.system()).connect();
  }

  private static void assertTold(Client waiter, Claim claim) throws InterruptedException {
    assertThat(waiter.told.poll(SOON.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(claim.id());
  }

  @ParameterizedTest(name = "the holder knows that another client waits: {0}")
  @ValueSource(booleans = {false, true})
  void release_isHeard(boolean knows) throws Exception {
    try (Client holder = client();
        Client other = client()) {
      Claim held = holder.claim("Schloß \"x\"");
      holder.granted(held);
      assertThat(listeners(shared)).isEmpty();
      Claim waits = other.claim("Schloß \"x\"");
      other.busy(waits);
      awaitListener(shared);
      if (knows) {
        assertThat(holder.keep(held))
            .isInstanceOfSatisfying(
                Kept.Held.class, kept -> assertThat(kept.grant().othersWait()).isTrue());
      }
      other.told.clear();
      assertThat(holder.end(held).othersWait()).isTrue();
      assertTold(other, waits);
      other.granted(waits);
    }
  }

  @Test
  void forcedRelease_isHeard() throws Exception {
    try (Client holder = client();
        Client other = client();
        Client operator = client()) {
      Claim held = holder.claim("x");
      long revision = holder.granted(held).revision();
      Claim waits = other.claim("x");
      other.busy(waits);
      awaitListener(shared);
      other.told.clear();
      assertThat(Client.get(operator.store.evict(LockKey.of("x"), revision))).isTrue();
      assertTold(other, waits);
    }
  }

  /** One word in the row is enough for many waiters; when whoever left it goes away, the others are told, to leave theirs. */
  @Test
  void waiterThatGoesAway_doesNotTakeTheWordOfOthersWithIt() throws Exception {
    try (Client holder = client();
        Client other = client();
        Client leaves = client()) {
      Claim held = holder.claim("x");
      holder.granted(held);
      Claim waits = other.claim("x");
      other.busy(waits);
      awaitListener(shared);
      Claim brief = leaves.claim("x");
      leaves.busy(brief);
      other.told.clear();
      leaves.end(brief);
      // a look of the other's may have left its own word, after that of who leaves: then there is nothing to tell
      Await.until(
          "the other is told, or its word is there",
          () -> !other.told.isEmpty() || shared.query(WORD_OF).contains(other.id));
      // it tries, in vain, and has left its word with that
      other.busy(waits);
      other.told.clear();
      holder.end(held);
      assertTold(other, waits);
    }
  }

  /**
   * In a fair queue only the first is told: of a release, and that the claim before it has gone. Whether by a message or by a
   * look is all the same here; that a message tells of the release, the next test shows.
   */
  @Test
  void fairWaiters_areToldInTurn() throws Exception {
    try (Client holder = client();
        Client other = client();
        Client third = client()) {
      Claim held = holder.fair("x");
      holder.granted(held);
      Claim first = other.fair("x");
      other.busy(first);
      Claim second = third.fair("x");
      third.busy(second);
      Await.until("both listen", () -> {
        stay(other, first);
        stay(third, second);
        return listeners(shared).size() == 2;
      });
      other.told.clear();
      third.told.clear();
      holder.end(held);
      assertTold(other, first);
      assertThat(third.told).isEmpty();
      other.end(first);
      assertTold(third, second);
      third.granted(second);
    }
  }

  /**
   * It is the message that wakes the first in a fair queue: looks for fair claims go on while one listens, ever more rarely,
   * and right after one of them the next is as many seconds away as the last pause, and more. On a machine that stands still
   * for that long nothing tells the message from a look: then another round has to.
   */
  @Test
  void release_wakesTheFirstInAFairQueue() throws Exception {
    Rounds.untilShown(LONG, leasesDoNotMatter -> releaseWakesTheFirst());
  }

  /** Returns false if the first was not told before a look could have done it. */
  private boolean releaseWakesTheFirst() throws Exception {
    try (Client holder = client();
        Client other = client()) {
      Claim held = holder.fair("x");
      holder.granted(held);
      Claim first = other.fair("x");
      other.busy(first);
      Claim second = other.fair("x");
      other.busy(second);
      Await.until("one listens", () -> {
        stay(other, first, second);
        return listeners(shared).size() == 1;
      });
      awaitLookAfter(Duration.ofSeconds(2), other, first, second);
      other.told.clear();
      holder.end(held);
      ClaimId told = other.told.poll(2_500, TimeUnit.MILLISECONDS);
      if (told == null) {
        other.end(first);
        other.end(second);
        return false;
      }
      assertThat(told).isEqualTo(first.id());
      assertThat(other.told).isEmpty();
      other.granted(first);
      other.end(first);
      other.end(second);
      return true;
    }
  }

  /** Keeps claims in the queue, where they live for five seconds otherwise. */
  private static void stay(Client waiter, Claim... queued) {
    for (Claim each : queued) {
      assertThat(waiter.keep(each)).isInstanceOf(Kept.Queued.class);
    }
  }

  /** Waits for a look that comes after so long a pause; the pause after it is longer. Keeps claims in the queue meanwhile. */
  private void awaitLookAfter(Duration pause, Client waiter, Claim... queued) {
    String lastLook =
        "SELECT coalesce(max(extract(epoch FROM query_start) * 1000), 0)::bigint FROM pg_stat_activity"
            + " WHERE query LIKE 'SELECT name, rev%'";
    AtomicLong lastMillis = new AtomicLong(Long.MAX_VALUE);
    Await.until("looks are rare", () -> {
      stay(waiter, queued);
      long millis = Long.parseLong(shared.query(lastLook).get(0));
      // a connection that rests is closed, and its last look is not seen any more
      return millis > 0 && millis - lastMillis.getAndSet(millis) >= pause.toMillis();
    });
  }

  /** The server's queue of messages can be full; then whoever speaks fails, and a release must not. */
  @Test
  @Warns("queue of notifications is full")
  void fullQueue_stopsNoRelease() throws Exception {
    try (SqlServer server = PostgresServer.with();
        Client holder = new Client(SqlUnderTest.uri(server, RARELY), Ticker.system()).connect();
        Client other = new Client(SqlUnderTest.uri(server, RARELY), Ticker.system()).connect()) {
      Claim held = holder.claim("x");
      holder.granted(held);
      Claim waits = other.claim("x");
      other.busy(waits);
      // the real one takes 8 GB
      server.execute(
          "CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE plpgsql AS $$"
              + " BEGIN RAISE 'too many notifications in the NOTIFY queue' USING ERRCODE = '54000'; END $$",
          "ALTER ROLE holdfast SET search_path = public, pg_catalog");
      try (Client later = new Client(SqlUnderTest.uri(server, RARELY), Ticker.system()).connect()) {
        Claim own = later.claim("y");
        later.granted(own);
        other.busy(other.claim("y"));
        assertThat(later.end(own).outcome()).isEqualTo(Outcome.RELEASED);
        other.granted(other.claim("y"));
        // the next release of a lock that others wait for tells them in the same statement
        Claim known = later.claim("z");
        later.granted(known);
        other.busy(other.claim("z"));
        assertThat(later.keep(known)).isInstanceOf(Kept.Held.class);
        assertThat(later.end(known).outcome()).isEqualTo(Outcome.RELEASED);
        other.granted(other.claim("z"));
        long revision =
            holder.keep(held) instanceof Kept.Held kept ? kept.grant().revision() : 0;
        assertThat(Client.get(later.store.evict(LockKey.of("x"), revision))).isTrue();
        other.granted(waits);
      }
    }
  }

  /** If the connection breaks while waiters are told, neither the release nor the next request fails. */
  @Test
  void connectionThatBreaksWhenWaitersAreTold_failsNothing() throws Exception {
    try (SqlServer server = PostgresServer.with();
        Client other = new Client(SqlUnderTest.uri(server, RARELY), Ticker.system()).connect()) {
      server.execute(
          "CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE plpgsql AS $$"
              + " BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); END $$",
          "ALTER ROLE holdfast SET search_path = public, pg_catalog");
      try (Client holder =
          new Client(SqlUnderTest.uri(server, RARELY), Ticker.system()).connect()) {
        Claim held = holder.claim("x");
        holder.granted(held);
        Claim waits = other.claim("x");
        other.busy(waits);
        Ended ended = holder.end(held);
        assertThat(ended.outcome()).isEqualTo(Outcome.RELEASED);
        assertThat(ended.othersWait()).isTrue();
        holder.granted(holder.claim("y"));
        other.granted(waits);
      }
    }
  }

  /** What was said while nobody listened is found out by a look. */
  @ParameterizedTest(name = "released before it listens again: {0}")
  @CsvSource({"true", "false"})
  void cutConnection_isOpenedAgain(boolean releasedMeanwhile) throws Exception {
    try (Client holder = client();
        Client other = client()) {
      Claim held = holder.claim("x");
      holder.granted(held);
      Claim waits = other.claim("x");
      other.busy(waits);
      String cut = awaitListener(shared);
      other.told.clear();
      shared.query("SELECT pg_terminate_backend(" + cut + ")");
      if (!releasedMeanwhile) {
        Await.until(
            "another one listens",
            () -> listeners(shared).size() == 1 && !listeners(shared).contains(cut));
        awaitListener(shared);
      }
      holder.end(held);
      assertTold(other, waits);
    }
  }

  @Test
  void restartedServer_isListenedToAgain() throws Exception {
    try (SqlServer server = PostgresServer.with();
        Holdfast holder = connect(server);
        Holdfast other = connect(server)) {
      Hold hold = holder.lock("x", LONG).acquire();
      CompletableFuture<Hold> waiter = other.lock("x", LONG).acquireAsync();
      awaitListener(server);
      server.restart();
      awaitListener(server);
      hold.release();
      soon(waiter).release();
    }
  }

  /** A server keeps silent for longer than anybody waits for an answer, on connections that seem to be there. */
  @Test
  void pausedServer_isListenedToAgain() throws Exception {
    try (SqlServer server = PostgresServer.with();
        Holdfast holder = connect(server);
        Holdfast other = connect(server)) {
      Hold hold = holder.lock("x", LONG).acquire();
      CompletableFuture<Hold> waiter = other.lock("x", LONG).acquireAsync();
      awaitListener(server);
      server.pause();
      long paused = System.nanoTime();
      Await.until(
          "the listener has asked, and given up",
          () -> System.nanoTime() - paused > TimeUnit.SECONDS.toNanos(14));
      server.resume();
      Await.until("the server answers", () -> !server.query("SELECT 1").isEmpty());
      hold.release();
      soon(waiter).release();
    }
  }

  /** The tables are made anew, by hand: what is said from then on is said elsewhere. */
  @Test
  void tablesMadeAnew_areListenedTo() throws Exception {
    try (Holdfast holder = connect(shared);
        Holdfast other = connect(shared)) {
      Hold hold = holder.lock("x", LONG).acquire();
      CompletableFuture<Hold> waiter = other.lock("x", LONG).acquireAsync();
      awaitListener(shared);
      shared.execute(
          "ALTER TABLE holdfast_lock RENAME TO former",
          "CREATE TABLE holdfast_lock (LIKE former INCLUDING ALL)",
          "ALTER TABLE holdfast_lock OWNER TO " + shared.user(),
          "INSERT INTO holdfast_lock SELECT * FROM former");
      String channel = shared
          .query("SELECT 'LISTEN \"holdfast_' || 'holdfast_lock'::regclass::oid || '\"'")
          .get(0);
      Await.until(
          "the other channel is listened to",
          () -> !shared
              .query("SELECT 1 FROM pg_stat_activity WHERE query = '" + channel + "'")
              .isEmpty());
      hold.release();
      soon(waiter).release();
    }
  }

  /** Who speaks commits alone in the whole server: nothing is said where nobody waits. */
  @Test
  void nobodyWaits_nothingIsSaid_andNobodyListensAfterAWhile() throws Exception {
    try (Holdfast holder = connect(shared);
        Holdfast other = connect(shared);
        Connection ear = shared.connect()) {
      for (int i = 0; i < 3; i++) {
        holder.lock("x", LONG).acquire().close();
      }
      PostgresProbe.execute(
          ear, "LISTEN \"" + PostgresProbe.channel(ear, JdbcOptions.DEFAULT.tables()) + '"');
      for (int i = 0; i < 3; i++) {
        holder.lock("x", LONG).acquire().close();
      }
      PostgresProbe.say(ear, "holdfast_else");
      assertThat(Pgjdbc.await(ear, 300)).isEmpty();
      Hold hold = holder.lock("x", LONG).acquire();
      CompletableFuture<Hold> waiter = other.lock("x", LONG).acquireAsync();
      Await.until("it listens", () -> !listeners(shared).isEmpty());
      hold.release();
      soon(waiter).release();
      assertThat(said(ear)).containsExactly("x");
      Await.until("nobody listens any more", () -> listeners(shared).isEmpty());
    }
  }

  private static List<String> said(Connection ear) throws SQLException {
    return Pgjdbc.await(ear, 1000).stream().map(Pgjdbc.Message::payload).toList();
  }

  /** A small pool is left to those who work; a roomy one lends one to the listener, and gets it back as it was. */
  @ParameterizedTest
  @CsvSource({"3, AUTO, 0", "4, AUTO, 1", "3, ALWAYS, 1", "9, NEVER, 0"})
  void dataSource_lendsOneIfItCan(int connections, Listening listening, int listeners)
      throws Exception {
    HikariConfig config = new HikariConfig();
    config.setDataSource(shared.dataSource());
    config.setMaximumPoolSize(connections);
    config.setAutoCommit(false);
    try (HikariDataSource pool = new HikariDataSource(config);
        Holdfast holder = connect(shared)) {
      Hold hold = holder.lock("x", LONG).acquire();
      try (Holdfast other = Holdfast.builder().store(store(pool, listening)).build()) {
        CompletableFuture<Hold> waiter = other.lock("x", LONG).acquireAsync();
        Await.until(
            "the waiter has left word",
            () -> shared.query("SELECT wanted_us > 0 FROM holdfast_lock").contains("t"));
        if (listeners > 0) {
          Await.until("one listens", () -> listeners(shared).size() == listeners);
        } else {
          assertThat(listeners(shared)).isEmpty();
        }
        hold.release();
        waiter.orTimeout(30, TimeUnit.SECONDS).join().release();
      }
      Await.until("all are back", () -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
      // the server hears a little later of a connection that was hung up on
      Await.until(
          "no session listens",
          () -> shared
              .query("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
              .isEmpty());
      try (Connection connection = pool.getConnection()) {
        assertThat(connection.getAutoCommit()).isFalse();
        assertThat(connection.getNetworkTimeout()).isZero();
      }
    }
  }

  private static JdbcStore store(HikariDataSource pool, Listening listening) {
    return JdbcStore.using(pool, JdbcSettings.builder().listening(listening).build());
  }
}
