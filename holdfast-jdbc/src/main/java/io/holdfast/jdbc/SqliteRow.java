// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Holder;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One lock's row. Times in microseconds since the epoch.
 *
 * @param name the lock
 * @param rev the revision of the latest grant
 * @param claim who was granted it, null once it was released
 * @param sinceUs when it was granted
 * @param untilUs until when it is taken
 * @param wantedUs until when somebody is known to wait for it
 * @param wantedBy which client that is
 * @param holder the holder for people, null without a claim
 */
record SqliteRow(
    String name,
    long rev,
    @Nullable String claim,
    long sinceUs,
    long untilUs,
    long wantedUs,
    @Nullable String wantedBy,
    @Nullable Holder holder) {

  /** Reads a row of {@link SqliteLocks#EVERY_COLUMN}. */
  static SqliteRow of(ResultSet row) throws SQLException {
    String claim = row.getString(3);
    Holder holder = claim == null
        ? null
        : new Holder(text(row, 8), text(row, 9), row.getLong(10), text(row, 11), text(row, 12));
    return new SqliteRow(
        Objects.requireNonNull(row.getString(1), "name"),
        row.getLong(2),
        claim,
        row.getLong(4),
        row.getLong(5),
        row.getLong(6),
        row.getString(7),
        holder);
  }

  private static String text(ResultSet row, int column) throws SQLException {
    return Objects.requireNonNullElse(row.getString(column), "");
  }

  boolean isTaken(long nowUs) {
    return untilUs > nowUs;
  }

  Optional<Holder> holderNow() {
    return Optional.ofNullable(holder);
  }

  Duration leaseLeft(long nowUs) {
    return Duration.ofNanos(Math.max(0, untilUs - nowUs) * 1000);
  }

  /** Says whether the claim that holds it is one of this client's. */
  boolean isOf(String client) {
    return claim != null
        && claim.length() > client.length()
        && claim.charAt(client.length()) == '-'
        && claim.startsWith(client);
  }

  /**
   * Says whether this client, which waits, must leave word that somebody waits. The holder asks only whether anybody
   * else does, so one word of any other client is enough, and a wait of the holder's own process does not count.
   */
  boolean lacksWord(String client, long staleAtUs) {
    if (claim == null || isOf(client)) {
      return false;
    }
    return wantedUs <= staleAtUs || wantedBy == null || isOf(wantedBy);
  }
}
