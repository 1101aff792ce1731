// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.history.Bounds;
import io.holdfast.testkit.history.Event;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.Invariant;
import io.holdfast.testkit.history.Kind;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Twelve threads of three clients on two names at a time, in every mode, while old rows are deleted without a pause. The
 * names change, so that those that come again were deleted meanwhile: the first attempts of all threads make the row anew.
 */
@Tag("all")
class SqlStressTest {
  private static final int CLIENTS = 3;
  private static final int THREADS = 12;
  private static final int TURNS = 6;
  private static final int NAMES_AT_ONCE = 2;
  private static final int PATIENCE = 20;
  private static final long LENGTH_NANOS = Duration.ofSeconds(18).toNanos();

  /** Rows rest for longer than this between two turns, and no attempt takes as long, which is what makes it safe. */
  private static final Duration RETENTION = Client.TIMEOUT.plusMillis(500);

  private static final long TURN_NANOS = Duration.ofMillis(1_200).toNanos();
  private static final Bounds BOUNDS = new Bounds(0, 0, 0, 0, 0, 0, true);

  private final List<Event> events = new ArrayList<>();
  private final AtomicBoolean over = new AtomicBoolean();

  @ParameterizedTest
  @EnumSource
  void grantsExcludeEachOther_andTokensGrow(SqlKind kind) throws Exception {
    List<Client> clients = new ArrayList<>();
    ExecutorService threads = Executors.newCachedThreadPool();
    try (SqlServer server = kind.start()) {
      for (int i = 0; i < CLIENTS; i++) {
        Client client = new Client(SqlUnderTest.uri(server), Ticker.system()).connect();
        client.waits = true;
        clients.add(client);
      }
      long begin = System.nanoTime();
      CompletableFuture<Integer> cleaner =
          CompletableFuture.supplyAsync(() -> clean(kind, server), threads);
      List<CompletableFuture<Void>> workers = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int number = i;
        workers.add(CompletableFuture.runAsync(
            () -> work(clients.get(number % CLIENTS), new Random(number), begin), threads));
      }
      try {
        workers.forEach(each -> each.orTimeout(2, TimeUnit.MINUTES).join());
      } finally {
        over.set(true);
      }
      assertThat(cleaner.get(1, TimeUnit.MINUTES)).as("rows deleted").isPositive();
    } finally {
      clients.forEach(Client::close);
      threads.shutdownNow();
    }
    History history = new History(events, BOUNDS);
    assertThat(Invariant.I1.violations(history)).isEmpty();
    assertThat(Invariant.I3.violations(history)).isEmpty();
    assertThat(events.stream().map(Event::lock).distinct()).hasSize(TURNS * NAMES_AT_ONCE);
  }

  /**
   * Everything that a claim can do, over and over. Whatever it throws fails the test, a deadlock that was not repeated
   * too.
   */
  private void work(Client client, Random random, long begin) {
    for (long elapsed = 0; elapsed < LENGTH_NANOS; elapsed = System.nanoTime() - begin) {
      String name = "n" + elapsed / TURN_NANOS % TURNS + "-" + random.nextInt(NAMES_AT_ONCE);
      boolean fair = random.nextInt(4) == 0;
      Claim claim = client.claim(name, Client.LEASE, fair);
      Answer answer = client.attempt(claim, fair ? Mode.QUEUE : Mode.TRY);
      for (int i = 0; fair && i < PATIENCE && !(answer instanceof Answer.Granted); i++) {
        answer = client.attempt(claim, Mode.QUEUE);
      }
      if (answer instanceof Answer.Granted granted) {
        note(Kind.GRANTED, claim, granted.grant().revision());
        if (random.nextInt(4) == 0) {
          Grant kept = ((Kept.Held) client.keep(claim)).grant();
          assertThat(kept.revision()).isEqualTo(granted.grant().revision());
        }
        note(Kind.ENDED, claim, granted.grant().revision());
        assertThat(client.end(claim).outcome()).isEqualTo(Ended.Outcome.RELEASED);
      } else if (fair) {
        Ended ended = client.end(claim);
        assertThat(ended.outcome()).isNotEqualTo(Ended.Outcome.RELEASED);
      }
    }
  }

  /** A grant is noted after its answer, and its end before it is asked for: what is noted is a part of what was. */
  private void note(Kind kind, Claim claim, long revision) {
    String id = claim.id().toString();
    synchronized (events) {
      events.add(new Event(
          kind,
          System.nanoTime(),
          0,
          claim.name().name(),
          id,
          id,
          revision,
          0,
          kind == Kind.GRANTED ? System.nanoTime() + Client.LEASE.toNanos() : 0));
    }
  }

  /** Deletes old rows as the store's cleaner does, but always, and those that are not so old; returns how many. */
  private int clean(SqlKind kind, SqlServer server) {
    JdbcDialect dialect =
        kind == SqlKind.POSTGRESQL ? new PostgresDialect(Durability.DATABASE) : new MySqlDialect();
    long retentionUs = TimeUnit.NANOSECONDS.toMicros(RETENTION.toNanos());
    int deleted = 0;
    try {
      JdbcSession session =
          JdbcSession.open(server.connect(), dialect, JdbcOptions.DEFAULT.tables(), 20_000);
      while (!over.get()) {
        try {
          List<String> old = dialect.scan(session, "", retentionUs, 100).old();
          deleted += dialect.delete(session, old, retentionUs);
        } catch (SQLException e) {
          if (dialect.kind(e) != JdbcErrors.Kind.AGAIN) {
            throw e;
          }
        }
      }
      session.abort();
      return deleted;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
