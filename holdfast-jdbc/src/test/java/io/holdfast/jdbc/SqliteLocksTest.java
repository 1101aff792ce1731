// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The statements alone: each must be right by itself, whatever happened since the row was read. */
class SqliteLocksTest {
  private static final long NOW = 1_800_000_000_000_000L;
  private static final long LEASE_US = 30_000_000;

  @TempDir
  private Path folder;

  private SqliteSession session;
  private SqliteLocks locks;

  @BeforeEach
  void open() throws Exception {
    session = SqliteSession.open(
        new SqliteDatabase(SqliteOptions.of(folder.resolve("locks.db")), "sqlite:locks.db"));
    locks = session.locks;
  }

  @AfterEach
  void close() throws Exception {
    session.close();
  }

  private static Claim claim(String client) {
    return new Claim(
        new ClaimId(client, 1),
        LockKey.of("a"),
        1,
        1,
        Duration.ofSeconds(30),
        false,
        new Holder(client, "host", 1, "main", ""));
  }

  private LockRow row() throws Exception {
    return Objects.requireNonNull(locks.read("a"));
  }

  /** Between reading that it is free and granting it, somebody else may have taken it. */
  @Test
  void grantAndTake_refuseALockThatSomebodyElseHas() throws Exception {
    assertThat(locks.grant(claim("x"), "x-1", null, NOW, NOW)).isNotNull();
    LockRow before = row();

    assertThat(locks.grant(claim("y"), "y-1", null, NOW + 5, NOW + LEASE_US - 1))
        .isNull();
    assertThat(locks.take(claim("y"), "y-1", null, NOW + 5, NOW + LEASE_US - 1)).isFalse();
    assertThat(row()).isEqualTo(before);
    assertThat(locks.take(claim("y"), "y-1", null, NOW + 5, NOW + LEASE_US)).isTrue();
    assertThat(row().rev()).isEqualTo(NOW + 5);
  }

  /** A clock that was set back, or another process that was faster. */
  @Test
  void aRevision_isAlwaysAboveTheRows() throws Exception {
    locks.grant(claim("x"), "x-1", null, NOW, NOW);
    locks.free(claim("x"), "x-1", NOW);

    assertThat(locks.take(claim("y"), "y-1", null, NOW, NOW)).isFalse();
    SqliteLocks.Done done =
        Objects.requireNonNull(locks.grant(claim("y"), "y-1", null, NOW - 7, NOW - 7));
    assertThat(done.revision()).isEqualTo(NOW + 1);
  }

  /** Word of a waiter makes the short ways step aside, and expires. */
  @Test
  void theShortWays_stepAsideForWhoWaits() throws Exception {
    locks.grant(claim("x"), "x-1", null, NOW, NOW);
    locks.want("a", "y", NOW, NOW + 100);
    assertThat(row().lacksWord("z", NOW + 99)).isFalse();
    assertThat(row().lacksWord("z", NOW + 100)).isTrue();
    assertThat(row().lacksWord("x", NOW + 100)).isFalse();

    assertThat(locks.free(claim("x"), "x-1", NOW + 99)).isFalse();
    assertThat(locks.free(claim("x"), "x-1", NOW + 100)).isTrue();
    assertThat(locks.take(claim("x"), "x-1", null, NOW + 1, NOW + 99)).isFalse();
    assertThat(locks.take(claim("x"), "x-1", null, NOW + 1, NOW + 100)).isTrue();
  }

  /** Nobody waits for a lock that is free or merely kept. */
  @Test
  void want_marksHeldLocksOnly() throws Exception {
    locks.grant(claim("x"), "x-1", null, NOW, NOW);
    locks.end(claim("x"), "x-1", 2 * LEASE_US, NOW);
    locks.want("a", "y", NOW, NOW + 100);
    assertThat(row().wantedUs()).isZero();
    assertThat(row().untilUs()).isEqualTo(NOW + 2 * LEASE_US);
  }
}
