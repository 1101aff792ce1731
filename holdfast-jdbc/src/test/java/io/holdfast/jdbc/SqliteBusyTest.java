// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.contract.StoreContract;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Somebody else's transaction keeps the file, as a process that was stopped in the middle of one would. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = StoreContract.SHARED, mode = ResourceAccessMode.READ)
class SqliteBusyTest {
  @TempDir
  private Path folder;

  private Client client;
  private Connection other;

  @BeforeEach
  void open() throws SQLException {
    Path file = folder.resolve("locks.db");
    client = new Client(file).connect();
    client.granted(client.claim("held"));
    other = DriverManager.getConnection("jdbc:sqlite:" + file);
  }

  @AfterEach
  void close() throws SQLException {
    other.close();
    client.close();
  }

  private void other(String sql) throws SQLException {
    try (Statement statement = other.createStatement()) {
      statement.execute(sql);
    }
  }

  /** No verb waits on the caller's thread; all are done when the file is free again. */
  @Test
  void requests_waitElsewhereUntilTheFileIsFree() throws SQLException {
    Claim held = client.claim("b");
    client.granted(held);
    other("BEGIN IMMEDIATE");

    CompletableFuture<Answer> attempt =
        client.store.attempt(client.claim("a"), Mode.TRY, client.soon()).toCompletableFuture();
    CompletableFuture<Ended> end =
        client.store.end(held, Duration.ZERO, client.soon()).toCompletableFuture();
    CompletableFuture<Map<ClaimId, Kept>> keep =
        client.store.keep(List.of(held)).toCompletableFuture();
    assertThat(attempt).isNotDone();
    assertThat(end).isNotDone();
    assertThat(keep).isNotDone();
    other("COMMIT");

    assertThat(Client.get(attempt)).isInstanceOf(Answer.Granted.class);
    assertThat(Client.get(end).outcome()).isEqualTo(Ended.Outcome.RELEASED);
    assertThat(Client.get(keep)).hasSize(1);
  }

  /** A request whose time is over fails, certainly without effect, however long the file stays busy. */
  @Test
  void anAttempt_isNotAppliedPastGiveUpAt() throws SQLException {
    other("BEGIN IMMEDIATE");
    Claim claim = client.claim("a");
    CompletionStage<Answer> attempt =
        client.store.attempt(claim, Mode.TRY, client.store.time().plusMillis(150));

    assertThatThrownBy(() -> Client.get(attempt))
        .isInstanceOfSatisfying(StoreException.class, e -> {
          assertThat(e.notApplied()).isTrue();
          assertThat(e.reason()).isEqualTo(Reason.UNREACHABLE);
        })
        .hasMessageContaining("stopped process");
    other("COMMIT");

    assertThat(Client.get(client.store.inspect(claim.name()))).isEmpty();
    assertThat(client.attempt(claim, Mode.TRY)).isInstanceOf(Answer.Granted.class);
  }

  /** It was late before it met the busy file: no other process is to blame. */
  @Test
  void anAttemptThatComesAfterGiveUpAt_isLateThoughTheFileIsBusy() throws SQLException {
    other("BEGIN IMMEDIATE");
    for (Claim claim : List.of(client.claim("a"), client.fair("a"))) {
      assertThat(Client.get(
              client.store.attempt(claim, Mode.QUEUE, client.store.time().minusMillis(1))))
          .isInstanceOf(Answer.Late.class);
    }
    other("COMMIT");
  }

  /** Reading needs no lock. */
  @Test
  void inspect_answersMeanwhile() throws SQLException {
    other("BEGIN IMMEDIATE");
    assertThat(Client.get(client.store.inspect(client.claim("held").name()))).isPresent();
    other("COMMIT");
  }

  /** What piled up is done in few transactions, each request with its own answer, in order. */
  @Test
  void aLongLine_isServedTogether() throws SQLException {
    other("BEGIN IMMEDIATE");
    List<Claim> claims = new ArrayList<>();
    List<CompletionStage<Answer>> attempts = new ArrayList<>();
    List<CompletionStage<Ended>> ends = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      Claim claim = i % 10 == 0 ? client.fair("n" + i / 2) : client.claim("n" + i / 2);
      claims.add(claim);
      attempts.add(client.store.attempt(claim, Mode.QUEUE, client.soon()));
    }
    for (Claim claim : claims) {
      ends.add(client.store.end(claim, Duration.ZERO, client.soon()));
    }
    other("COMMIT");

    for (int i = 0; i < 200; i++) {
      assertThat(Client.get(attempts.get(i)))
          .isInstanceOf(i % 2 == 0 ? Answer.Granted.class : Answer.Busy.class);
      assertThat(Client.get(ends.get(i)).outcome())
          .isEqualTo(i % 2 == 0 ? Ended.Outcome.RELEASED : Ended.Outcome.NOT_THERE);
    }
    assertThat(Client.get(client.store.own())).hasSize(1);
  }

  /** Nobody waits for a claim whose end was asked for, whatever became of that: the engine may not ask again. */
  @Test
  void aWaiterWhoseEndFails_isForgotten() throws Exception {
    try (Client second = new Client(folder.resolve("locks.db")).connect()) {
      Claim waiting = second.claim("held");
      second.busy(waiting);
      other("BEGIN IMMEDIATE");
      assertThatThrownBy(() -> second.end(waiting)).isInstanceOf(StoreException.class);
      other("COMMIT");

      assertThat(second.told.poll(200, TimeUnit.MILLISECONDS)).isNull();
      int looks = second.timers.get();
      assertThat(second.told.poll(300, TimeUnit.MILLISECONDS)).isNull();
      assertThat(second.timers.get()).isEqualTo(looks);
      assertThat(second.keep(waiting)).isInstanceOf(Kept.Gone.class);
    }
  }

  /** What is still in line when the store is closed is told so, and was not applied. */
  @Test
  void close_sendsAwayWhoStandsInLine() throws SQLException {
    other("BEGIN IMMEDIATE");
    CompletionStage<Answer> attempt =
        client.store.attempt(client.claim("a"), Mode.TRY, client.soon());
    CompletionStage<Map<ClaimId, Kept>> keep = client.store.keep(List.of(client.claim("held")));

    client.store.close();

    assertThatThrownBy(() -> Client.get(attempt))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.notApplied()).isTrue());
    assertThatThrownBy(() -> Client.get(keep)).isInstanceOf(StoreException.class);
    other("COMMIT");
  }
}
