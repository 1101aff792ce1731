// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a database is asked, in its own words. Each statement is a transaction by itself, judges by the database's clock,
 * in microseconds since the epoch, and changes only what belongs to its claim, or to nobody.
 */
interface JdbcDialect {
  /** What an attempt found. */
  sealed interface Attempted {
    /** The claim holds the lock. */
    record Granted(long revision, boolean othersWait) implements Attempted {}

    /** Somebody else has it, or comes first; a try is not told who. */
    record Busy(long leftUs, Optional<Holder> holder) implements Attempted {}

    /** It came after its {@code giveUpAt}. */
    record Late() implements Attempted {}
  }

  /** A hold that was extended. */
  record Done(long revision, boolean othersWait, long nowUs) {}

  /**
   * A hold that was released.
   *
   * @param othersWait whether another client waits
   * @param nowUs the database's time, read by the release
   * @param isToTell whether the caller has to call {@link JdbcDialect#tell} for this release
   */
  record Freed(boolean othersWait, long nowUs, boolean isToTell) {}

  /** The holds that were extended, and the claims whose rows others keep locked. A claim in neither holds nothing. */
  record Extended(Map<ClaimId, Done> held, Set<ClaimId> locked) {}

  /** The rows of some locks, and when they were read. */
  record Read(Map<String, LockRow> rows, long nowUs) {}

  /** The first living waiter of a lock. */
  record Head(String claim, long untilUs) {}

  /** Some names in order, and those of them whose rows are old; the last name is empty after the end. */
  record Scan(List<String> old, String last) {}

  /** The database's name for people, as {@code Guarantees} has it. */
  String product();

  /** Says whether the table of the format is there. */
  boolean hasTable(JdbcSession session) throws SQLException;

  /** The statements that make the tables, in order; each may find its table there already. */
  List<String> ddl(JdbcTables tables);

  /**
   * How a connection is to be set up.
   *
   * @param readCommitted whether it is to judge by what is committed when a statement begins
   * @param setUp what sets it up, empty for nothing
   * @param undo what puts back what was there before, empty for nothing
   * @param last what has to be put back at the driver, after the last statement
   */
  record Setup(boolean readCommitted, String setUp, String undo, JdbcSession.Step last) {
    static final Setup NOTHING = new Setup(true, "", "");

    Setup(boolean readCommitted, String setUp, String undo) {
      this(readCommitted, setUp, undo, () -> {});
    }
  }

  /** Asks how a connection is to be set up; once for each that is borrowed. */
  Setup setup(Connection connection) throws SQLException;

  /**
   * Waits for whoever is changing a lock's row just now, so that what is asked next sees it. An update does that by itself
   * on some databases, and on others only if the row fits already before the change.
   */
  void awaitWriters(JdbcSession session, LockKey name) throws SQLException;

  /** Runs DDL one process at a time. */
  void alone(JdbcSession session, JdbcSession.Step step) throws SQLException;

  /** Microseconds that may pass between the time that a statement judges by and its effect. */
  long staleUs();

  long now(JdbcSession session) throws SQLException;

  /**
   * Takes a free lock, or confirms a hold and extends it.
   *
   * @param waits whether it leaves word that it waits, if the lock is another client's
   * @param inTurn whether only the first in the queue may have it
   * @param giveUpUs after which nothing must change
   * @param wordUs how long word lasts
   */
  Attempted attempt(
      JdbcSession session, Claim claim, boolean waits, boolean inTurn, long giveUpUs, long wordUs)
      throws SQLException;

  /** Ends a hold; null if the claim holds nothing. */
  @Nullable
  Freed end(JdbcSession session, Claim claim, long keepForUs) throws SQLException;

  /**
   * Extends holds. A row that others keep locked costs no other claim its extension.
   *
   * @param lockedBefore claims whose rows were locked the last time; they come last, one by one
   */
  Extended keep(JdbcSession session, Collection<Claim> claims, Set<ClaimId> lockedBefore)
      throws SQLException;

  /** Reads the rows of some locks; those without one are missing. */
  Read read(JdbcSession session, Collection<LockKey> names) throws SQLException;

  /** Leaves word that this client waits, on locks that somebody holds. */
  void want(JdbcSession session, Collection<String> names, String client, long lastsUs)
      throws SQLException;

  /** Takes this client's word back; says whether there was any. */
  boolean unwant(JdbcSession session, LockKey name, String client) throws SQLException;

  /** Goes to the end of the queue, or stays where it stands, with a full lease; nothing changes after giveUpUs. */
  void enter(JdbcSession session, Claim claim, long giveUpUs, long leaseUs) throws SQLException;

  /**
   * Tells the clients that listen that a lock may be free, or that another client's word that it waits is gone. After a
   * release call it only if {@link Freed#isToTell}. Does nothing on a database whose clients cannot listen.
   */
  default void tell(JdbcSession session, LockKey name) throws SQLException {
    // waiters look
  }

  /** Makes what hears of releases while somebody waits. */
  default Wakeups wakeups(JdbcContext context, JdbcLane lane, Waiting waiting) {
    return Wakeups.NONE;
  }

  /** Whether waiters can hear of releases at all. */
  default boolean canTell() {
    return false;
  }

  boolean leave(JdbcSession session, ClaimId claim) throws SQLException;

  /** Extends waiters that have not ended; returns those. */
  Set<ClaimId> refresh(JdbcSession session, Collection<Claim> claims, long leaseUs)
      throws SQLException;

  @Nullable
  Head head(JdbcSession session, LockKey name) throws SQLException;

  /** Counts the living waiters of some locks; those without any are missing. */
  Map<String, Integer> waiters(JdbcSession session, Collection<String> names) throws SQLException;

  /** Reads taken and awaited locks after a name, by the order of their names' bytes. */
  List<LockRow> list(JdbcSession session, String prefix, String after, int most)
      throws SQLException;

  /** Ends the grant with this revision, or lets go of the kept lock. */
  boolean evict(JdbcSession session, LockKey name, long revision) throws SQLException;

  /** Says whether this process is the one that deletes old rows now. */
  boolean mayClean(JdbcSession session, long everyUs) throws SQLException;

  /** Looks at some rows that follow a name in order. */
  Scan scan(JdbcSession session, String after, long retentionUs, int most) throws SQLException;

  int delete(JdbcSession session, List<String> names, long retentionUs) throws SQLException;

  int deleteDeadWaiters(JdbcSession session, int most) throws SQLException;

  /** Looks at the server's settings, and at what stands between. */
  List<Finding> diagnose(JdbcContext context, JdbcSession session) throws SQLException;

  /** What a failure means. */
  JdbcErrors.Kind kind(SQLException e);
}
