// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A real server whose tables have no room left: what is there can be changed in place, and nothing can grow. */
@Tag("all")
class SqlDiskTest {
  private static final String SIZE = "4m";
  private static final int MANY = 20_000;
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(5)).build();
  private static final LockOptions BRIEF =
      LockOptions.builder().leaseFor(Duration.ofSeconds(2)).build();

  private static void assertFull(Throwable e) {
    assertThat(e).isInstanceOf(StoreUnavailableException.class);
    StoreUnavailableException full = (StoreUnavailableException) e;
    assertThat(full.reason()).as(full.toString()).isEqualTo(Reason.FULL);
    assertThat(full).hasMessageContaining("no room left");
  }

  /** Long, so that few of them fill a page. */
  private static String name(int number) {
    return "x".repeat(400) + number;
  }

  /** Takes locks that are new to the tables, until one of them is refused. */
  private static List<Hold> fill(SqlServer server, Holdfast client) {
    server.fillDisk();
    List<Hold> granted = new ArrayList<>();
    while (granted.size() < MANY) {
      try {
        granted.add(client.lock(name(granted.size()), LONG).tryAcquire().orElseThrow());
      } catch (StoreUnavailableException e) {
        assertFull(e);
        return granted;
      }
    }
    throw new AssertionError("the disk does not fill");
  }

  /** Who asks is told, at once or within his time; nothing that was granted is lost; and it goes on when there is room. */
  @ParameterizedTest
  @EnumSource
  void newLocks_areRefused_untilThereIsRoom(SqlKind kind) throws Exception {
    try (SqlServer server = kind.startOnASmallDisk(SIZE);
        Holdfast client = SqlUnderTest.patient(SqlUnderTest.uri(server)).build();
        Holdfast other = SqlUnderTest.patient(SqlUnderTest.uri(server)).build()) {
      List<Hold> granted = fill(server, client);
      String refused = name(granted.size());
      assertFull(Told.by(() -> client.lock(refused, LONG).acquire(Duration.ofSeconds(3))));
      assertFull(Told.by(() -> {
        throw Await.failure(other.lock(refused, LONG).acquireAsync(Duration.ofSeconds(3)));
      }));

      server.makeRoomOnDisk();
      try (Hold next = client.lock(refused, LONG).acquire(Duration.ofSeconds(10))) {
        assertThat(next.isValid()).isTrue();
      }
      for (Hold each : granted) {
        assertThat(each.release()).isTrue();
        try (Hold again = other.lock(each.lockName(), LONG).tryAcquire().orElseThrow()) {
          assertThat(again.token()).isGreaterThan(each.token());
        }
      }
    }
  }

  /** What has a row goes on in its place, and is given back, while nothing new finds room. On MySQL it may be lost: the guarantees. */
  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "MARIADB"})
  void hold_isRenewedAndReleased_whileThereIsNoRoom(SqlKind kind) throws Exception {
    AtomicInteger renewals = new AtomicInteger();
    try (SqlServer server = kind.startOnASmallDisk(SIZE);
        Holdfast client = SqlUnderTest.patient(SqlUnderTest.uri(server))
            .listener(event -> {
              if (event instanceof LockEvent.Renewed renewed
                  && renewed.lockName().equals("held")) {
                renewals.incrementAndGet();
              }
            })
            .build()) {
      LockOptions options =
          LockOptions.builder().leaseFor(Duration.ofSeconds(15)).build();
      Hold held = client.lock("held", options).acquire();
      List<Hold> granted = fill(server, client);
      int before = renewals.get();
      Await.until("it was renewed, and again", () -> renewals.get() >= before + 2);
      assertThat(held.state()).isEqualTo(HoldState.HELD);
      assertThatThrownBy(() -> client.lock(name(granted.size()), LONG).tryAcquire())
          .satisfies(SqlDiskTest::assertFull);
      assertThat(held.release()).isTrue();
      assertThat(client.admin().inspect("held")).isEmpty();
      server.makeRoomOnDisk();
      for (Hold each : granted) {
        assertThat(each.release()).isTrue();
      }
    }
  }

  /**
   * PostgreSQL needs room for each renewal as long as somebody may still look at the versions before it. Then a hold is lost
   * by its own clock, and one whose lease is long enough goes on when there is room.
   */
  @Test
  @MayWarn("the store did not confirm its end")
  @Warns("hold lost")
  void renewalThatNeedsRoom_losesTheHoldInTime() throws Exception {
    try (SqlServer server = SqlKind.POSTGRESQL.startOnASmallDisk(SIZE);
        Holdfast client = SqlUnderTest.patient(SqlUnderTest.uri(server)).build();
        Holdfast other = SqlUnderTest.patient(SqlUnderTest.uri(server)).build()) {
      String name = "lost".repeat(100);
      Hold lost = client.lock(name, BRIEF).acquire();
      List<Hold> granted;
      try (Connection looks = server.connect()) {
        lookAsOfNow(looks);
        granted = fill(server, client);
        Await.until("the loss is told", () -> lost.state() == HoldState.LOST);
        assertThat(lost.isValid()).isFalse();
        assertThatThrownBy(lost::ensureValid).isInstanceOf(HoldLostException.class);
        assertFull(Told.by(() -> other.lock(name, LONG).acquire(Duration.ofSeconds(3))));
        looks.rollback();
      }
      server.makeRoomOnDisk();
      try (Hold next = other.lock(name, LONG).acquire(Duration.ofSeconds(10))) {
        assertThat(next.token()).isGreaterThan(lost.token());
      }
      for (Hold each : granted) {
        assertThat(each.release()).isTrue();
      }
    }
  }

  /** Begins a transaction that may look at all that is there now, until it ends. */
  private static void lookAsOfNow(Connection connection) throws SQLException {
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT count(*) FROM holdfast_lock")) {
      assertThat(row.next()).isTrue();
    }
  }
}
