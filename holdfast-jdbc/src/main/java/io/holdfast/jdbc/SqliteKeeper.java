// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.StoreException;
import java.lang.System.Logger.Level;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Extends holds and refreshes waiters, many in one transaction, on a connection and a thread of its own, so that leases
 * are kept while the writer has a long line. Deletes old rows in between.
 */
final class SqliteKeeper {
  private static final System.Logger LOG = System.getLogger(SqliteKeeper.class.getName());

  /** A transaction of this many takes about a millisecond; others wait for no longer than that. */
  private static final int AT_ONCE = 200;

  private static final long CLEAN_EVERY_US = 3_600_000_000L;
  private static final int SCAN_AT_ONCE = 1000;

  private final SqliteContext context;
  private final Waiting waiting;
  private final SqliteLane lane;
  private final AtomicBoolean cleaning = new AtomicBoolean();
  private final AtomicBoolean deadAreLookedFor = new AtomicBoolean();

  SqliteKeeper(SqliteContext context, SqliteDatabase database, Waiting waiting) {
    this.context = context;
    this.waiting = waiting;
    lane = new SqliteLane("keeper", context, database);
  }

  CompletionStage<Map<ClaimId, Kept>> keep(List<Claim> claims) {
    Moment asked = context.now();
    return lane.run(() -> keepAll(asked, claims));
  }

  /** The first part's turn on the lane is also the wait for it; the others follow on the same thread. */
  private Map<ClaimId, Kept> keepAll(Moment asked, List<Claim> claims) {
    Map<ClaimId, Kept> kept = lane.call(asked, session -> keepPart(session, claims, 0));
    for (int from = AT_ONCE; from < claims.size(); from += AT_ONCE) {
      int start = from;
      try {
        kept.putAll(lane.call(context.now(), session -> keepPart(session, claims, start)));
      } catch (StoreException e) {
        // Those that are missing from the answer are unknown, which is what they are.
        LOG.log(Level.DEBUG, "store=" + context.store() + " could not keep all leases in time", e);
        return kept;
      }
    }
    return kept;
  }

  private Map<ClaimId, Kept> keepPart(SqliteSession opened, List<Claim> claims, int from)
      throws SQLException {
    // Whoever holds in a file that is gone must hear of it now: others lock in the new one already.
    SqliteSession session = lane.lookForFile() == null ? lane.open(context.now().nanos()) : opened;
    Map<ClaimId, Kept> kept = new HashMap<>();
    session.connection.begin();
    try {
      Moment anchor = context.now();
      for (Claim claim : claims.subList(from, Math.min(from + AT_ONCE, claims.size()))) {
        kept.put(claim.id(), keep(session, claim, anchor));
      }
      session.connection.commit();
      return kept;
    } catch (SQLException | RuntimeException e) {
      session.connection.rollbackAfter(e);
      throw e;
    }
  }

  private Kept keep(SqliteSession session, Claim claim, Moment anchor) throws SQLException {
    long nowUs = SqliteContext.micros(anchor);
    String id = claim.id().toString();
    SqliteLocks.Done done = session.locks.keep(claim, id, nowUs);
    if (done != null) {
      return new Kept.Held(new Grant(done.revision(), anchor, claim.lease(), done.othersWait()));
    }
    boolean queued = claim.fair()
        ? session.queue.refresh(id, nowUs, nowUs + Waiting.WAITER_LEASE_US)
        : waiting.contains(claim.id());
    return queued ? new Kept.Queued() : new Kept.Gone();
  }

  /**
   * Frees what dead clients held, now and every hour. Deletes rows of locks that were not used for the retention, and
   * those of waiters that died, every hour, and now if no client did so within the last hour. In the background, and in
   * small steps: what is to be kept meanwhile comes in between. A second call does nothing.
   */
  void cleanFromNowOn(long cleanedUs) {
    if (cleaning.compareAndSet(false, true)) {
      if (isDue(cleanedUs)) {
        cleanInBackground();
      } else {
        freeDeadClients();
      }
      cleanLater();
    }
  }

  private void cleanLater() {
    // A process's own offset, so that those that were started together do not come together.
    long offsetSeconds = Math.floorMod(context.client().hashCode(), 60);
    context
        .runtime()
        .scheduler()
        .schedule(
            () -> {
              if (!lane.isClosed()) {
                cleanInBackground();
                cleanLater();
              }
            },
            CLEAN_EVERY_US * 1000 + offsetSeconds * 1_000_000_000L);
  }

  private void cleanInBackground() {
    freeDeadClients();
    step(() -> {
      if (lane.call(context.now(), this::mayClean)) {
        step(this::deleteDeadWaiters);
        step(() -> deleteOld(""));
      }
    });
  }

  /** Frees what dead clients held, and deletes what they left, in the background. */
  void freeDeadClients() {
    if (deadAreLookedFor.compareAndSet(false, true)) {
      boolean willRun = step(() -> {
        deadAreLookedFor.set(false);
        freeNext(context.liveness().find().iterator());
      });
      if (!willRun) {
        deadAreLookedFor.set(false);
      }
    }
  }

  private void freeNext(Iterator<SqliteClientFile> files) {
    if (files.hasNext()) {
      SqliteClientFile file = files.next();
      try {
        lane.call(context.now(), session -> context.liveness().clean(session, file));
      } finally {
        step(() -> freeNext(files));
      }
    }
  }

  /** Does some of the cleaning, behind what the lane has to do already; false if it cannot. */
  private boolean step(Runnable some) {
    try {
      lane.execute(() -> cleanNow(some));
      return true;
    } catch (RejectedExecutionException e) {
      LOG.log(Level.TRACE, "store={0} closed, no cleaning", context.store());
    } catch (RuntimeException | Error e) {
      // no thread could be made: that is no matter of the request which noticed that there is something to clean
      LOG.log(Level.DEBUG, "store=" + context.store() + " no cleaning, later again", e);
    }
    return false;
  }

  private void cleanNow(Runnable some) {
    if (lane.isClosed()) {
      return;
    }
    try {
      some.run();
    } catch (RuntimeException e) {
      LOG.log(Level.DEBUG, "store=" + context.store() + " cleaning failed, later again", e);
    }
  }

  private boolean isDue(long cleanedUs) {
    return Math.abs(SqliteContext.micros(context.now()) - cleanedUs) >= CLEAN_EVERY_US;
  }

  /** One process an hour gets true. */
  private boolean mayClean(SqliteSession session) throws SQLException {
    long nowUs = SqliteContext.micros(context.now());
    long cleanedUs = session.connection.number("SELECT cleaned_us FROM holdfast_meta");
    if (!isDue(cleanedUs)) {
      return false;
    }
    try (PreparedStatement mark = session.connection.prepare(
        "UPDATE holdfast_meta SET cleaned_us = ?1 WHERE cleaned_us = ?2")) {
      mark.setLong(1, nowUs);
      mark.setLong(2, cleanedUs);
      return mark.executeUpdate() == 1;
    }
  }

  private void deleteOld(String after) {
    Scan scan = lane.call(context.now(), session -> scan(session, after));
    for (int i = 0; i < scan.old().size(); i += AT_ONCE) {
      List<String> names =
          scan.old().subList(i, Math.min(i + AT_ONCE, scan.old().size()));
      lane.call(context.now(), session -> delete(session, names));
    }
    if (!scan.last().isEmpty()) {
      step(() -> deleteOld(scan.last()));
    }
  }

  /** Those whose lock is waited for again go then; these are the others. */
  private void deleteDeadWaiters() {
    long nowUs = SqliteContext.micros(context.now());
    if (lane.call(context.now(), session -> session.queue.dropSomeDead(nowUs, AT_ONCE)) > 0) {
      step(this::deleteDeadWaiters);
    }
  }

  /** Old rows among some that follow in order; the last name looked at, empty after the end. */
  private record Scan(List<String> old, String last) {}

  /** A row that is not taken, whose revision the clock has left behind by the retention: its tokens cannot come back. */
  private static final String IS_OLD = "until_us <= ?1 AND rev < ?2";

  private void bindOld(PreparedStatement statement) throws SQLException {
    long nowUs = SqliteContext.micros(context.now());
    statement.setLong(1, nowUs);
    statement.setLong(2, nowUs - context.options().retention().toMillis() * 1000);
  }

  private Scan scan(SqliteSession session, String after) throws SQLException {
    List<String> old = new ArrayList<>();
    String last = "";
    try (PreparedStatement select = session.connection.prepare("SELECT name, " + IS_OLD
        + " FROM holdfast_lock WHERE name > ?3 ORDER BY name LIMIT " + SCAN_AT_ONCE)) {
      bindOld(select);
      select.setString(3, after);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          last = row.getString(1);
          if (row.getBoolean(2)) {
            old.add(last);
          }
        }
      }
    }
    return new Scan(old, last);
  }

  private int delete(SqliteSession session, List<String> names) throws SQLException {
    int deleted = 0;
    session.connection.begin();
    try (PreparedStatement delete = session.connection.prepare(
        "DELETE FROM holdfast_lock WHERE " + IS_OLD + " AND name = ?3")) {
      for (String name : names) {
        bindOld(delete);
        delete.setString(3, name);
        deleted += delete.executeUpdate();
      }
      session.connection.commit();
      return deleted;
    } catch (SQLException | RuntimeException e) {
      session.connection.rollbackAfter(e);
      throw e;
    }
  }

  void close() {
    lane.close();
  }
}
