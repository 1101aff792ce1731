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

/** Looks at the rows of all locks that are waited for, with one query. A query, since a refused update writes, too. */
final class JdbcEyes implements Waiting.Eyes {
  private static final System.Logger LOG = System.getLogger(JdbcEyes.class.getName());

  private final JdbcContext context;
  private final JdbcLane lane;

  JdbcEyes(JdbcContext context, JdbcLane lane) {
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
      JdbcDialect.Read read = context.dialect().read(session, names);
      context.clock().heard(read.nowUs());
      return judge.of(new Seen(session, context.dialect(), read));
    });
  }

  private record Seen(JdbcSession session, JdbcDialect dialect, JdbcDialect.Read read)
      implements Waiting.View {
    @Override
    public long nowUs() {
      return read.nowUs();
    }

    @Override
    public boolean isUnchanged() {
      // the rows were read already: judging them costs nothing
      return false;
    }

    @Override
    public @Nullable LockRow row(LockKey name) {
      return read.rows().get(name.name());
    }

    @Override
    public JdbcDialect.@Nullable Head head(LockKey name) throws SQLException {
      return dialect.head(session, name);
    }

    @Override
    public void leaveWord(
        List<LockKey> names, String client, long lastsUs, Supplier<Set<LockKey>> waitedFor)
        throws SQLException {
      Set<LockKey> still = waitedFor.get();
      List<String> wanted =
          names.stream().filter(still::contains).map(LockKey::name).toList();
      try {
        dialect.want(session, wanted, client, lastsUs);
      } catch (SQLException e) {
        if (dialect.kind(e) != JdbcErrors.Kind.AGAIN) {
          throw e;
        }
        // Whoever writes just now may be the one to release. The next look tries again.
        LOG.log(Level.TRACE, "no word left, a row was busy");
      }
    }
  }
}
