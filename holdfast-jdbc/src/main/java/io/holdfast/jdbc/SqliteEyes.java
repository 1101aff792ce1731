// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.LockKey;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the file: first at its change counter, and only if that has moved, or something is due, at the rows. All of it
 * on the lane's thread.
 */
final class SqliteEyes implements Waiting.Eyes {
  private static final System.Logger LOG = System.getLogger(SqliteEyes.class.getName());

  private final SqliteContext context;
  private final SqliteLane lane;
  private @Nullable SqliteSession latestSession;
  private long latestVersion;

  SqliteEyes(SqliteContext context, SqliteLane lane) {
    this.context = context;
    this.lane = lane;
  }

  @Override
  public void execute(Runnable task) {
    lane.execute(task);
  }

  @Override
  public boolean isClosed() {
    return lane.isClosed();
  }

  @Override
  public Waiting.Found look(Collection<LockKey> names, Waiting.Judge judge) {
    return lane.call(context.now(), session -> {
      // Before the rows: what changes after this is seen by the next look.
      long version = session.dataVersion();
      // What one connection counts says nothing about the count of the next.
      boolean isUnchanged = session == latestSession && version == latestVersion;
      Waiting.Found found =
          judge.of(new Seen(context, session, SqliteContext.micros(context.now()), isUnchanged));
      latestSession = session;
      latestVersion = version;
      return found;
    });
  }

  private record Seen(SqliteContext context, SqliteSession session, long nowUs, boolean isUnchanged)
      implements Waiting.View {
    @Override
    public @Nullable LockRow row(LockKey name) throws SQLException {
      return session.locks.read(name.name());
    }

    @Override
    public long dueUs(LockRow row) throws SQLException {
      String holder = row.isTaken(nowUs) && !row.isOf(context.client()) ? row.claim() : null;
      if (holder == null) {
        return row.untilUs();
      }
      return context.liveness().isDead(holder, () -> session.locks.clientFile(row.name(), holder))
          ? nowUs
          : Math.min(row.untilUs(), nowUs + SqliteLiveness.LOOK_EVERY_US);
    }

    @Override
    public JdbcDialect.@Nullable Head head(LockKey name) throws SQLException {
      JdbcDialect.Head head = session.queue.head(name.name(), nowUs);
      if (head == null) {
        return null;
      }
      // the next attempt deletes a dead waiter, and finds the one behind it
      return context.liveness().isDead(head.claim(), () -> session.queue.clientFile(head.claim()))
          ? null
          : new JdbcDialect.Head(
              head.claim(), Math.min(head.untilUs(), nowUs + SqliteLiveness.LOOK_EVERY_US));
    }

    /**
     * For all of them in one transaction: a process that waits for many locks writes no more often than one that waits
     * for one.
     */
    @Override
    public void leaveWord(
        List<LockKey> names, String client, long lastsUs, Supplier<Set<LockKey>> waitedFor)
        throws SQLException {
      try {
        session.connection.begin();
      } catch (SQLException e) {
        if (!SqliteErrors.isBusy(e)) {
          throw e;
        }
        // Whoever writes just now may be the one to release. The next look tries again.
        LOG.log(Level.TRACE, "no word left, the file was busy");
        return;
      }
      try {
        // looked at again now that nobody else writes
        Set<LockKey> still = waitedFor.get();
        for (LockKey name : names) {
          if (still.contains(name)) {
            session.locks.want(name.name(), client, nowUs, nowUs + lastsUs);
          }
        }
        session.connection.commit();
      } catch (SQLException | RuntimeException e) {
        session.connection.rollbackAfter(e);
        throw e;
      }
    }
  }
}
