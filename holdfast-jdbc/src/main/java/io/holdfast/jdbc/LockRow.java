// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Holder;
import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
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
 * @param holder the holder for people; null without a claim, even if the columns still have the last holder
 */
record LockRow(
    String name,
    long rev,
    @Nullable String claim,
    long sinceUs,
    long untilUs,
    long wantedUs,
    @Nullable String wantedBy,
    @Nullable Holder holder) {

  /** The columns, in the order in which a row is read. */
  static final String COLUMNS =
      "name, rev, claim, since_us, until_us, wanted_us, wanted_by, client, host, pid, thread, note";

  /** Tokens leave 8 bits for hand-overs within a process. */
  private static final int HAND_OVER_BITS = 8;

  /** Reads a row of {@link #COLUMNS}, whose name was read already. */
  static LockRow of(String name, ResultSet row) throws SQLException {
    String claim = row.getString(3);
    return new LockRow(
        name,
        row.getLong(2),
        claim,
        row.getLong(4),
        row.getLong(5),
        row.getLong(6),
        row.getString(7),
        claim == null ? null : holder(row, 8));
  }

  /** Reads client, host, pid, thread and note. */
  static Holder holder(ResultSet row, int at) throws SQLException {
    return new Holder(
        text(row, at),
        text(row, at + 1),
        row.getLong(at + 2),
        text(row, at + 3),
        text(row, at + 4));
  }

  private static String text(ResultSet row, int column) throws SQLException {
    return Objects.requireNonNullElse(row.getString(column), "");
  }

  /**
   * What there is to know of it, for people; empty if it is neither taken nor waited for. Only fair waiters have rows of
   * their own to be counted.
   */
  Optional<LockInfo> info(int fairWaiters, long nowUs) {
    if (!isTaken(nowUs) && fairWaiters == 0) {
      return Optional.empty();
    }
    boolean held = isTaken(nowUs) && claim != null;
    boolean kept = isTaken(nowUs) && claim == null;
    return Optional.of(new LockInfo(
        name,
        held ? holderNow() : Optional.empty(),
        held ? Optional.of(instant(sinceUs)) : Optional.empty(),
        held ? leaseLeft(nowUs) : Duration.ZERO,
        rev << HAND_OVER_BITS,
        kept ? Optional.of(instant(untilUs)) : Optional.empty(),
        Waiters.atLeast(fairWaiters)));
  }

  private static Instant instant(long us) {
    return Instant.EPOCH.plus(us, ChronoUnit.MICROS);
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
