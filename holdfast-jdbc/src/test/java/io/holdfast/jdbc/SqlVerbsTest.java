// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockInfo;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each verb on each kind of database server, with its corners. */
@Tag("stores")
@Tag("oldest")
class SqlVerbsTest {
  private final List<AutoCloseable> open = new ArrayList<>();
  private @Nullable SqlUnderTest opened;

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private Client client(SqlKind kind) {
    return client(kind, new String[0]);
  }

  private Client client(SqlKind kind, String... parameters) {
    if (opened == null) {
      SqlUnderTest fresh = new SqlUnderTest(kind);
      opened = fresh;
      open.add(fresh);
    }
    return clientOf(server(), parameters).connect();
  }

  private SqlServer server() {
    return Objects.requireNonNull(opened).server;
  }

  private Client clientOf(SqlServer server, String... parameters) {
    Client client = new Client(SqlUnderTest.uri(server, parameters), Ticker.system());
    open.add(client);
    return client;
  }

  @ParameterizedTest
  @EnumSource
  void aHeldLock_isBusyForOthersUntilItIsReleased(SqlKind kind) {
    Client a = client(kind);
    Client b = client(kind);
    Claim held = a.claim("x");
    Grant grant = a.granted(held);
    Claim other = b.claim("x");
    Answer.Busy busy = b.busy(other);
    assertThat(busy.queued()).isFalse();
    assertThat(busy.holder().orElseThrow()).isEqualTo(held.holder());
    assertThat(busy.leaseLeft().orElseThrow()).isBetween(Duration.ofSeconds(20), Client.LEASE);
    assertThat(b.attempt(b.claim("x"), Mode.TRY)).isInstanceOf(Answer.Busy.class);
    assertThat(a.granted(held).revision()).isEqualTo(grant.revision());
    assertThat(a.end(held).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(a.end(held).outcome()).isEqualTo(Outcome.NOT_THERE);
    assertThat(b.granted(other).revision()).isGreaterThan(grant.revision());
  }

  /** What does not hold the lock neither extends nor ends the lease of what does. */
  @ParameterizedTest
  @EnumSource
  void aStrangersClaim_changesNothing(SqlKind kind) {
    Client a = client(kind);
    Client b = client(kind);
    Claim held = a.claim("x");
    a.granted(held);
    String row = "SELECT CONCAT(claim, ' ', until_us) FROM holdfast_lock WHERE name = 'x'";
    List<String> before = server().query(row);
    for (Client each : List.of(a, b)) {
      Claim stranger = each.claim("x", Client.LEASE.plusHours(1), false);
      assertThat(each.keep(stranger)).isInstanceOf(Kept.Gone.class);
      assertThat(each.end(stranger).outcome()).isEqualTo(Outcome.NOT_THERE);
      assertThat(each.end(stranger, Duration.ofHours(1)).outcome()).isEqualTo(Outcome.NOT_THERE);
      assertThat(server().query(row)).isEqualTo(before);
    }
    assertThat(a.end(held).outcome()).isEqualTo(Outcome.RELEASED);
  }

  /** A lease that has ended is nobody's: it is neither kept nor released, and its lock goes to whoever asks. */
  @ParameterizedTest
  @EnumSource
  void aLease_endsByItself(SqlKind kind) {
    Client a = client(kind);
    Claim brief = a.claim("x", Duration.ofMillis(150), false);
    Grant first = a.granted(brief);
    Await.until(
        "it has ended",
        () -> a.store.time().isAfter(Instant.EPOCH)
            && Client.get(a.store.inspect(LockKey.of("x"))).isEmpty());
    assertThat(a.keep(brief)).isInstanceOf(Kept.Gone.class);
    assertThat(a.end(brief).outcome()).isEqualTo(Outcome.NOT_THERE);
    assertThat(a.granted(brief).revision()).isGreaterThan(first.revision());
  }

  /** The server's clock was set back since: whichever way is taken, the next revision is greater all the same. */
  @ParameterizedTest
  @EnumSource
  void aRevisionAheadOfTheClock_isFollowedByAGreaterOne(SqlKind kind) {
    Client a = client(kind);
    Claim first = a.claim("x");
    a.granted(first);
    a.end(first);
    server().execute("UPDATE holdfast_lock SET rev = rev + 3600000000 WHERE name = 'x'");
    long ahead = Long.parseLong(
        server().query("SELECT rev FROM holdfast_lock WHERE name = 'x'").get(0));
    Claim taken = a.claim("x");
    assertThat(a.granted(taken).revision()).isEqualTo(ahead + 1);
    a.end(taken);
    Claim asked = a.claim("x", Client.LEASE, true);
    assertThat(a.granted(asked).revision()).isEqualTo(ahead + 2);
    a.end(asked);
    assertThat(a.granted(a.claim("x")).revision()).isEqualTo(ahead + 3);
  }

  /** More at once than one statement takes, of several lengths, of which some are not held. */
  @ParameterizedTest
  @EnumSource
  void keep_answersEachOfMany(SqlKind kind) {
    Client a = client(kind);
    Client b = client(kind);
    List<Claim> claims = IntStream.range(0, 300)
        .mapToObj(i -> a.claim("x" + i, Client.LEASE.plusSeconds(i % 2), false))
        .toList();
    List<Claim> held = claims.subList(0, 290);
    Map<ClaimId, Grant> grants = new HashMap<>();
    held.forEach(each -> grants.put(each.id(), a.granted(each)));
    claims.subList(290, 300).forEach(each -> b.granted(b.claim(each.name().name())));
    Map<ClaimId, Kept> kept = Client.get(a.store.keep(claims));
    for (Claim each : held) {
      Grant now = ((Kept.Held) Objects.requireNonNull(kept.get(each.id()))).grant();
      assertThat(now.revision())
          .isEqualTo(Objects.requireNonNull(grants.get(each.id())).revision());
      assertThat(now.lease()).isEqualTo(each.lease());
    }
    claims
        .subList(290, 300)
        .forEach(each -> assertThat(kept.get(each.id())).isInstanceOf(Kept.Gone.class));
  }

  /** A console without autocommit keeps the row of one lock locked: what is told of the others is as if it did not. */
  @ParameterizedTest
  @EnumSource
  void keep_beyondALockedRow_extendsTheOthers(SqlKind kind) throws SQLException {
    Client a = client(kind);
    Client b = client(kind);
    List<Claim> held = IntStream.range(0, 300).mapToObj(i -> a.claim("x" + i)).toList();
    held.forEach(a::granted);
    Claim gone = a.claim("x8");
    Claim queued = b.fair("x7");
    Claim waits = b.claim("x7");
    b.busy(queued);
    b.busy(waits);
    // it is looked at only when the others have been renewed, which may take longer than it lives unasked
    server().execute("UPDATE holdfast_waiter SET until_us = until_us + 60000000");
    List<Claim> claims = new ArrayList<>(held);
    claims.add(gone);
    whileLocked("x7", () -> {
      Map<ClaimId, Kept> kept = Client.get(a.store.keep(claims));
      assertThat(kept.get(held.get(7).id())).isInstanceOf(Kept.Unknown.class);
      assertThat(kept.values()).filteredOn(Kept.Held.class::isInstance).hasSize(299);
      assertThat(kept.get(gone.id())).isInstanceOf(Kept.Gone.class);
      assertThat(b.keep(queued)).isInstanceOf(Kept.Queued.class);
      assertThat(b.keep(waits)).isInstanceOf(Kept.Queued.class);
    });
    assertThat(Client.get(a.store.keep(held)).values()).allMatch(Kept.Held.class::isInstance);
  }

  /** If the driver hung up before the server tells of the locked row, no hold would be renewed, however often it is tried. */
  @ParameterizedTest
  @EnumSource
  void keep_beyondALockedRow_andRequestsAreShort_extendsTheOthers(SqlKind kind)
      throws SQLException {
    client(kind);
    Client a = new Client(SqlUnderTest.uri(server()), Ticker.system(), Duration.ofMillis(200));
    open.add(a);
    List<Claim> held = IntStream.range(0, 20).mapToObj(i -> a.claim("x" + i)).toList();
    held.forEach(each -> Await.until(each.name() + " is granted", () -> isGranted(a, each)));
    whileLocked("x7", () -> {
      Await.until("the others are renewed", () -> renewed(a, held) == 19);
    });
  }

  /** Runs something while another transaction keeps the row of a lock locked. */
  private void whileLocked(String name, Runnable task) throws SQLException {
    try (Connection connection = server().connect();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.executeUpdate("UPDATE holdfast_lock SET note = 'mine' WHERE name = '" + name + "'");
      task.run();
      connection.rollback();
    }
  }

  /** How many are renewed; none if there was no connection in time. */
  private static long renewed(Client client, List<Claim> claims) {
    try {
      return Client.get(client.store.keep(claims)).values().stream()
          .filter(Kept.Held.class::isInstance)
          .count();
    } catch (StoreException e) {
      return 0;
    }
  }

  /** Whether it is granted; not if the server needs longer than a request may take. */
  private static boolean isGranted(Client client, Claim claim) {
    try {
      return client.attempt(claim, Mode.QUEUE) instanceof Answer.Granted;
    } catch (StoreException e) {
      return false;
    }
  }

  /** A server that scans a table for many names waits for the locked row of a lock that is not asked for. */
  @ParameterizedTest
  @EnumSource
  void keep_besideALockedRow_waitsForNothing(SqlKind kind) throws SQLException {
    Client a = client(kind);
    List<Claim> held = IntStream.range(0, 100).mapToObj(i -> a.claim("x" + i)).toList();
    held.forEach(a::granted);
    a.granted(a.claim("x8, and more"));
    Client b = client(kind);
    List<Claim> queued = held.stream().map(each -> b.fair(each.name().name())).toList();
    queued.forEach(b::busy);
    b.busy(b.fair("x8, and more"));
    server().execute("UPDATE holdfast_waiter SET until_us = until_us + 60000000");
    try (Connection connection = server().connect();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      for (String table : List.of("holdfast_lock", "holdfast_waiter")) {
        statement.executeUpdate(
            "UPDATE " + table + " SET note = 'mine' WHERE name = 'x8, and more'");
      }
      assertThat(Client.get(a.store.keep(held)).values()).allMatch(Kept.Held.class::isInstance);
      assertThat(Client.get(b.store.keep(queued)).values()).allMatch(Kept.Queued.class::isInstance);
      connection.rollback();
    }
  }

  /** An attempt that crossed its claim's grant may have left a place in the queue: that is no proof against the hold. */
  @ParameterizedTest
  @EnumSource
  void keep_ofALockedRow_isUnknown_thoughTheClaimHasAPlaceToo(SqlKind kind) throws SQLException {
    Client a = client(kind);
    Claim held = a.fair("x");
    a.granted(held);
    Client b = client(kind);
    b.busy(b.fair("x"));
    server()
        .execute("UPDATE holdfast_waiter SET until_us = until_us + 60000000, claim = '" + held.id()
            + "' WHERE name = 'x'");
    whileLocked("x", () -> {
      assertThat(a.keep(held)).isInstanceOf(Kept.Unknown.class);
    });
    assertThat(a.keep(held)).isInstanceOf(Kept.Held.class);
  }

  /** The attempt that was granted has no answer, and a renewal has found the grant: the claim does not wait any more. */
  @ParameterizedTest
  @EnumSource
  void keep_ofALockedRow_isUnknown_afterAKeepFoundTheGrant(SqlKind kind) throws SQLException {
    Client a = client(kind);
    a.granted(a.fair("x"));
    Client b = client(kind);
    Claim waiter = b.fair("x");
    b.busy(waiter);
    server().execute("UPDATE holdfast_lock SET claim = '" + waiter.id() + "' WHERE name = 'x'");
    assertThat(b.keep(waiter)).isInstanceOf(Kept.Held.class);
    whileLocked("x", () -> {
      assertThat(b.keep(waiter)).isInstanceOf(Kept.Unknown.class);
    });
  }

  @ParameterizedTest
  @EnumSource
  void anAttemptPastGiveUpAt_isNotApplied(SqlKind kind) {
    Client a = client(kind);
    for (boolean fair : new boolean[] {false, true}) {
      Claim claim = a.claim("x", Client.LEASE, fair);
      Instant past = a.store.time().minusSeconds(1);
      assertThat(Client.get(a.store.attempt(claim, Mode.QUEUE, past)))
          .isInstanceOf(Answer.Late.class);
      assertThat(Client.get(a.store.inspect(LockKey.of("x")))).isEmpty();
      // also with a row that is there already
      Claim other = a.claim("x");
      a.granted(other);
      assertThat(Client.get(a.store.attempt(claim, Mode.QUEUE, past)))
          .isInstanceOf(Answer.Late.class);
      assertThat(Client.get(a.store.inspect(LockKey.of("x")))
              .map(info -> info.waiters().known()))
          .isEqualTo(Optional.of(0));
      a.end(other);
      // and one that is free, which who had it last takes by the short way
      assertThat(Client.get(a.store.attempt(claim, Mode.QUEUE, past)))
          .isInstanceOf(Answer.Late.class);
      assertThat(Client.get(a.store.inspect(LockKey.of("x")))).isEmpty();
    }
  }

  /** A client that knows a lock's row asks for it as before if somebody has removed it. */
  @ParameterizedTest
  @EnumSource
  void aRowThatHasGone_isMadeAnew(SqlKind kind) {
    Client a = client(kind);
    for (int i = 0; i < 3; i++) {
      Claim claim = a.claim("x");
      Grant first = a.granted(claim);
      assertThat(a.end(claim).outcome()).isEqualTo(Outcome.RELEASED);
      Claim next = a.claim("x");
      assertThat(a.granted(next).revision()).isGreaterThan(first.revision());
      assertThat(a.granted(next).othersWait()).isFalse();
      assertThat(a.end(next).outcome()).isEqualTo(Outcome.RELEASED);
      server().execute("DELETE FROM holdfast_lock");
    }
  }

  /**
   * A statement that waits for the row past its {@code giveUpAt} changes nothing, or the end that follows is not final before
   * it must have given up.
   */
  @ParameterizedTest
  @EnumSource
  void anAttemptThatWaitsForTheRow_isNotAppliedAfterAFinalEnd(SqlKind kind) throws SQLException {
    Client a = client(kind);
    Claim first = a.claim("x");
    a.granted(first);
    a.end(first);
    // the one knows that the row is there and takes it by the short way, the other does not
    isNotAppliedAfterAFinalEnd(a);
    isNotAppliedAfterAFinalEnd(client(kind));
  }

  private void isNotAppliedAfterAFinalEnd(Client a) throws SQLException {
    Claim late = a.claim("x");
    CompletionStage<Answer> answer;
    Instant giveUp = a.store.time().plusMillis(300);
    try (Connection connection = server().connect();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("SELECT * FROM holdfast_lock FOR UPDATE");
      answer = a.store.attempt(late, Mode.TRY, giveUp);
      Await.until("its time is over", () -> a.store.time().isAfter(giveUp.plusMillis(50)));
      connection.commit();
    }
    Answer found = Client.get(answer);
    if (found instanceof Answer.Granted) {
      Ended ended = Client.get(a.store.end(late, Duration.ZERO, giveUp));
      assertThat(ended.outcome()).isEqualTo(Outcome.RELEASED);
      assertThat(ended.isFinal()).isFalse();
    } else {
      assertThat(found).isInstanceOf(Answer.Late.class);
    }
    Await.until(
        "an end is final",
        () -> Client.get(a.store.end(late, Duration.ZERO, giveUp)).isFinal());
  }

  @ParameterizedTest
  @EnumSource
  void aKeptLock_staysTakenWithoutAHolderUntilItsTime(SqlKind kind) {
    Client a = client(kind);
    Claim claim = a.claim("x");
    a.granted(claim);
    assertThat(a.end(claim, Duration.ofSeconds(5)).outcome()).isEqualTo(Outcome.RELEASED);
    LockInfo kept = Client.get(a.store.inspect(LockKey.of("x"))).orElseThrow();
    assertThat(kept.holder()).isEmpty();
    assertThat(kept.keptUntil()).isPresent();
    assertThat(a.busy(a.claim("x")).holder()).isEmpty();
    Claim next = a.claim("x");
    Await.until("its time is over", () -> a.attempt(next, Mode.TRY) instanceof Answer.Granted);
    // released after its time: free at once
    Claim last = a.claim("y");
    Grant grant = a.granted(last);
    assertThat(a.end(last, Duration.ofMillis(0)).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(a.granted(a.claim("y")).revision()).isGreaterThan(grant.revision());
  }

  @ParameterizedTest
  @EnumSource
  void evict_isConditionalOnTheRevision(SqlKind kind) {
    Client a = client(kind);
    Claim claim = a.claim("x");
    Grant grant = a.granted(claim);
    assertThat(Client.get(a.store.evict(LockKey.of("x"), grant.revision() - 1))).isFalse();
    assertThat(Client.get(a.store.evict(LockKey.of("x"), grant.revision()))).isTrue();
    assertThat(a.keep(claim)).isInstanceOf(Kept.Gone.class);
  }

  /** Word of another client's wait reaches the holder with each answer, and goes with the waiter. */
  @ParameterizedTest
  @EnumSource
  void othersWait_isTold_whileAnotherClientWaits(SqlKind kind) {
    // so that the word lasts for eight seconds
    Client a = client(kind, "holdfast.poll=1s");
    Client b = client(kind, "holdfast.poll=1s");
    Claim held = a.claim("x");
    assertThat(a.granted(held).othersWait()).isFalse();
    Claim own = a.claim("x");
    a.busy(own);
    assertThat(((Kept.Held) a.keep(held)).grant().othersWait()).isFalse();
    a.end(own);
    Claim waits = b.claim("x");
    b.busy(waits);
    assertThat(((Kept.Held) a.keep(held)).grant().othersWait()).isTrue();
    assertThat(a.granted(held).othersWait()).isTrue();
    b.end(waits);
    assertThat(((Kept.Held) a.keep(held)).grant().othersWait()).isFalse();
    b.busy(waits);
    assertThat(a.end(held).othersWait()).isTrue();
    assertThat(b.granted(waits).othersWait()).isFalse();
    assertThat(b.end(waits).othersWait()).isFalse();
    Claim next = a.claim("x");
    assertThat(a.granted(next).othersWait()).isFalse();
    assertThat(a.end(next).othersWait()).isFalse();
  }

  /** A client may leave its own word after it was granted the lock: that is not another client's. */
  @ParameterizedTest
  @EnumSource
  void othersWait_withAWord_isTrueOnlyForAnotherClients(SqlKind kind) {
    Client a = client(kind);
    for (String word : List.of(a.id, "another")) {
      boolean isOthers = word.equals("another");
      Claim claim = a.claim("x");
      a.granted(claim);
      server()
          .execute("UPDATE holdfast_lock SET wanted_us = until_us + 60000000, wanted_by = '" + word
              + "' WHERE name = 'x'");
      assertThat(((Kept.Held) a.keep(claim)).grant().othersWait()).isEqualTo(isOthers);
      assertThat(a.granted(claim).othersWait()).isEqualTo(isOthers);
      assertThat(a.end(claim).othersWait()).isEqualTo(isOthers);
      Claim next = a.claim("x");
      assertThat(a.granted(next).othersWait()).isEqualTo(isOthers);
      assertThat(a.end(next).othersWait()).isEqualTo(isOthers);
    }
  }

  /** Fair claims are granted in the order in which they came; a try goes past them. */
  @ParameterizedTest
  @EnumSource
  void fairClaims_areGrantedInTurn(SqlKind kind) {
    Client a = client(kind);
    Client b = client(kind);
    Claim held = a.fair("x");
    a.granted(held);
    Claim second = b.fair("x");
    Claim third = a.fair("x");
    assertThat(b.busy(second).queued()).isTrue();
    assertThat(a.busy(third).queued()).isTrue();
    assertThat(a.keep(third)).isInstanceOf(Kept.Queued.class);
    assertThat(
            Client.get(a.store.inspect(LockKey.of("x"))).orElseThrow().waiters().known())
        .isEqualTo(2);
    a.end(held);
    assertThat(a.busy(third).queued()).isTrue();
    Claim tries = a.fair("x");
    assertThat(a.attempt(tries, Mode.TRY)).isInstanceOf(Answer.Granted.class);
    a.end(tries);
    assertThat(b.granted(second).revision()).isPositive();
    assertThat(a.end(third).outcome()).isEqualTo(Outcome.WITHDRAWN);
    assertThat(b.end(second).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(Client.get(a.store.inspect(LockKey.of("x")))).isEmpty();
  }

  /** Who has not been heard of for the lease of a waiter is passed over, though its row is still there. */
  @ParameterizedTest
  @EnumSource
  void aDeadWaiter_isPassedOver(SqlKind kind) {
    Client a = client(kind);
    Client b = client(kind);
    Claim held = a.fair("x");
    a.granted(held);
    Claim dead = b.fair("x");
    Claim next = a.fair("x");
    assertThat(b.busy(dead).queued()).isTrue();
    assertThat(a.busy(next).queued()).isTrue();
    a.end(held);
    server().execute("UPDATE holdfast_waiter SET until_us = 1 WHERE claim = '" + dead.id() + "'");
    assertThat(a.granted(next).revision()).isPositive();
  }

  /** Old rows go; what is held, kept or young stays, and so do the tokens. */
  @ParameterizedTest
  @EnumSource
  void oldRows_areDeleted(SqlKind kind) {
    Client a = client(kind);
    for (String name : List.of("old", "young", "held")) {
      Claim claim = a.claim(name);
      a.granted(claim);
      if (!name.equals("held")) {
        a.end(claim);
      }
    }
    server()
        .execute(
            "UPDATE holdfast_lock SET rev = rev - 100000000000 WHERE claim IS NOT NULL OR length(name) = 3",
            "UPDATE holdfast_meta SET cleaned_us = 0");
    client(kind);
    Await.until(
        "the old row is gone",
        () -> server().query("SELECT count(*) FROM holdfast_lock").equals(List.of("2")));
  }

  /** Many processes that find no tables make them once. */
  @ParameterizedTest
  @EnumSource
  void tables_areMadeOnce(SqlKind kind) {
    client(kind);
    server().dropTables();
    List<Client> clients = new ArrayList<>();
    List<CompletionStage<?>> connecting = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      Client each = clientOf(server());
      clients.add(each);
      connecting.add(each.store.connect());
    }
    connecting.forEach(Client::get);
    assertThat(clients.get(0).granted(clients.get(0).claim("x")).revision()).isPositive();
    assertThat(clients.get(5).attempt(clients.get(5).claim("x"), Mode.TRY))
        .isInstanceOf(Answer.Busy.class);
  }

  @ParameterizedTest
  @EnumSource
  void tables_thatAreRequired_areNotMade(SqlKind kind) {
    client(kind);
    server().dropTables();
    Client strict = clientOf(server(), "holdfast.tables=require");
    assertThatThrownBy(strict::connect).isInstanceOfSatisfying(StoreException.class, e -> {
      assertThat(e.reason()).isEqualTo(Reason.REFUSED);
      assertThat(e.getMessage()).contains("holdfast ddl").doesNotContain("secret");
    });
    // by hand, as an operator does
    try (Connection connection = server().connect();
        Statement statement = connection.createStatement()) {
      for (String sql : strict.store.schema()) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
    assertThat(strict.connect().granted(strict.claim("x")).revision()).isPositive();
  }

  /** What a newer version has made is left alone. */
  @ParameterizedTest
  @EnumSource
  void tables_ofANewerFormat_areRefused(SqlKind kind) {
    client(kind);
    server().execute("UPDATE holdfast_meta SET format = 2");
    assertThatThrownBy(() -> clientOf(server()).connect())
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.reason()).isEqualTo(Reason.DAMAGED));
  }

  /** Another prefix is another set of locks. */
  @ParameterizedTest
  @EnumSource
  void anotherPrefix_isAnotherSetOfLocks(SqlKind kind) {
    Client a = client(kind);
    Client b = client(kind, "holdfast.prefix=other_");
    a.granted(a.claim("x"));
    assertThat(b.attempt(b.claim("x"), Mode.TRY)).isInstanceOf(Answer.Granted.class);
    assertThat(server().query("SELECT name FROM other_lock")).containsExactly("x");
  }

  /** A wrong password is refused and not shown. */
  @ParameterizedTest
  @EnumSource
  void aWrongPassword_isRefused(SqlKind kind) {
    client(kind);
    String uri = SqlUnderTest.uri(server()).replace("password=secret", "password=wrong");
    Client refused = new Client(uri, Ticker.system());
    open.add(refused);
    assertThatThrownBy(refused::connect).isInstanceOfSatisfying(StoreException.class, e -> {
      assertThat(e.reason()).isEqualTo(Reason.REFUSED);
      assertThat(e.getMessage()).doesNotContain("password=");
    });
  }
}
