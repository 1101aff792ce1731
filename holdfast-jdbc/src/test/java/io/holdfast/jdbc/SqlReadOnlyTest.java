// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.sql.PostgresPair;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that may be read and not written: a replica, or one that was switched over. */
@Tag("all")
class SqlReadOnlyTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(5)).build();
  private static final LockOptions MIDDLING =
      LockOptions.builder().leaseFor(Duration.ofSeconds(30)).build();
  private static final LockOptions BRIEF =
      LockOptions.builder().leaseFor(Duration.ofSeconds(2)).build();
  private static final Duration PATIENCE = Duration.ofMillis(1500);

  private static void assertReadOnly(Throwable e) {
    assertThat(e)
        .isInstanceOfSatisfying(
            StoreUnavailableException.class,
            told -> assertThat(told.reason()).isEqualTo(Reason.UNREACHABLE))
        .hasMessageContaining("made read-only: name the primary");
  }

  private static void assertRefuses(DistributedLock lock) {
    assertReadOnly(Told.by(() -> lock.tryAcquire().isPresent()));
    assertReadOnly(Told.by(() -> {
      long asked = System.nanoTime();
      Throwable thrown = catchThrowable(() -> lock.acquire(PATIENCE));
      assertThat(Duration.ofNanos(System.nanoTime() - asked))
          .as("a caller is told within his time, and a little for a busy machine")
          .isLessThan(PATIENCE.plusSeconds(5));
      throw thrown;
    }));
  }

  /** A refusal is an answer, which a busy machine may take a while to give: what is not answered is told otherwise. */
  private static Holdfast patient(String uri) {
    return SqlUnderTest.patient(uri).build();
  }

  private static void readOnly(SqlKind kind, SqlServer server, boolean on) {
    if (kind == SqlKind.POSTGRESQL) {
      server.execute(
          "ALTER SYSTEM SET default_transaction_read_only = " + on, "SELECT pg_reload_conf()");
      // each session learns of it by itself, before its next statement
      Await.until(
          "it is so",
          () -> server.query("SHOW default_transaction_read_only").contains(on ? "on" : "off"));
    } else {
      server.execute("SET GLOBAL read_only = " + (on ? "ON" : "OFF"));
    }
  }

  /**
   * What needs a write is refused, with the advice what to do; a hold is lost by its own clock, or renewed in time; a wait
   * goes on. Clients need not be made anew when the server takes writes again.
   */
  @ParameterizedTest
  @EnumSource
  @MayWarn("the store did not confirm its end")
  @Warns("lock=lost .*hold lost")
  void serverThatTakesNoWrites_isTold_untilItDoesAgain(SqlKind kind) throws Exception {
    try (SqlServer server = kind.start();
        Holdfast client = patient(SqlUnderTest.uri(server));
        Holdfast other = patient(SqlUnderTest.uri(server))) {
      Hold lost = client.lock("lost", BRIEF).acquire();
      Hold goesOn = client.lock("goes on", MIDDLING).acquire();
      readOnly(kind, server, true);
      CompletableFuture<Hold> waiter =
          other.lock("lost", LONG).acquireAsync(Duration.ofSeconds(60));
      // a renewal that was under way may still have been made
      assertRefuses(client.lock("x", LONG));
      Await.until("the loss is told", () -> lost.state() == HoldState.LOST);
      assertThatThrownBy(lost::ensureValid).isInstanceOf(HoldLostException.class);
      Await.until("the other hold is at risk", () -> goesOn.state() == HoldState.AT_RISK);
      assertThat(waiter).isNotDone();

      readOnly(kind, server, false);
      Await.until("it is held again", () -> goesOn.state() == HoldState.HELD);
      Hold next = Await.value(waiter);
      assertThat(next.token()).isGreaterThan(lost.token());
      assertThat(next.release()).isTrue();
      assertThat(goesOn.release()).isTrue();
      assertThat(client.lock("x", LONG).tryAcquire().orElseThrow().release()).isTrue();
    }
  }

  /** Without tables not even a client can be had: they cannot be made here. */
  @Test
  void replicaWithoutTables_isRefusedAtTheStart() {
    try (PostgresPair pair = PostgresPair.asynchronous()) {
      assertThatThrownBy(() -> Holdfast.connect(pair.replica().storeUri()).close())
          .satisfies(SqlReadOnlyTest::assertReadOnly);
    }
  }

  /** A replica shows who has a lock, and gives none; when it takes its primary's place, the same client goes on. */
  @Test
  @Warns("lock=x .*hold lost")
  void replica_isForLooking_untilItIsPromoted() throws Exception {
    try (PostgresPair pair = PostgresPair.synchronous();
        Holdfast client = patient(pair.primary().storeUri())) {
      Hold before = client.lock("x", Renewals.OPTIONS).acquire();
      pair.awaitReplica();
      try (Holdfast looks = patient(pair.replica().storeUri())) {
        assertThat(looks.admin().inspect("x").orElseThrow().token()).isEqualTo(before.token());
        assertRefuses(looks.lock("x", LONG));
        assertRefuses(looks.lock("y", LONG));
        pair.primary().kill();
        pair.promote();
        try (Hold next = looks.lock("x", LONG).acquire(Duration.ofSeconds(40))) {
          assertThat(next.token()).isGreaterThan(before.token());
          Await.until("the former holder is told", () -> before.state() == HoldState.LOST);
        }
      }
    }
  }
}
