// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static io.holdfast.jdbc.ServerDialect.finding;
import static io.holdfast.jdbc.ServerDialect.text;

import io.holdfast.spi.Finding;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Looks at a PostgreSQL: what a crash or a failover forgets, what slows the locks' rows down, and what stands between. */
final class PostgresDoctor {
  private static final int LONG_SECONDS = 60;

  private final JdbcContext context;
  private final JdbcSession session;

  PostgresDoctor(JdbcContext context, JdbcSession session) {
    this.context = context;
    this.session = session;
  }

  List<Finding> look() throws SQLException {
    List<Finding> findings = new ArrayList<>();
    findings.add(role());
    findings.add(durability());
    findings.add(replication());
    findings.add(transactions());
    findings.add(encoding());
    findings.add(wakeups());
    return findings;
  }

  private Finding role() throws SQLException {
    boolean replica = text(session, "SELECT pg_is_in_recovery()").equals("t");
    return finding(
        !replica, "role", replica ? "replica" : "primary", "name the primary in the address");
  }

  private Finding durability() throws SQLException {
    String fsync = text(session, "SHOW fsync");
    String pages = text(session, "SHOW full_page_writes");
    String commit = text(session, "SHOW synchronous_commit");
    String found =
        "fsync=" + fsync + ", full_page_writes=" + pages + ", synchronous_commit=" + commit;
    boolean whole = fsync.equals("on") && pages.equals("on");
    return finding(
        whole && !commit.equals("off"),
        "durability",
        found,
        whole
            ? "a crash of the server can forget the last grants: set synchronous_commit to on"
            : "a crash of the machine can damage the whole database: set fsync and full_page_writes to on");
  }

  private Finding replication() throws SQLException {
    String standbys = text(session, "SHOW synchronous_standby_names");
    String replicas = text(session, "SELECT count(*) FROM pg_stat_replication");
    return finding(
        replicas.equals("0") || !standbys.isEmpty(),
        "replication",
        replicas + " replicas, synchronous_standby_names=\"" + standbys + "\"",
        "a failover to an asynchronous replica forgets the last grants: name synchronous standbys");
  }

  /** Versions of a row cannot be removed that an old snapshot may still want to see: each grant adds some to its row's. */
  private Finding transactions() throws SQLException {
    String oldest = text(
        session,
        "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::bigint FROM pg_stat_activity"
            + " WHERE pid <> pg_backend_pid() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)");
    return finding(
        Long.parseLong(oldest) < LONG_SECONDS,
        "transactions",
        "the oldest is open for " + oldest + " s",
        "while it is open, the versions of every lock's row pile up, and each acquire gets slower: end it (see"
            + " pg_stat_activity), and set idle_in_transaction_session_timeout");
  }

  private Finding encoding() throws SQLException {
    String encoding = text(session, "SHOW server_encoding");
    return finding(
        encoding.equals("UTF8"),
        "encoding",
        encoding,
        "lock names that this encoding cannot write are refused: use a database with UTF8");
  }

  private Finding wakeups() throws SQLException {
    String subject = "wake-ups";
    if (context.options().listening() == Listening.NEVER) {
      return finding(true, subject, "holdfast.listen=never: waiters poll", "");
    }
    if (!Pgjdbc.isBehind(session.connection())) {
      return finding(true, subject, "another driver than PostgreSQL's own: waiters poll", "");
    }
    if (context.options().listening() == Listening.AUTO && !context.source().sparesOne()) {
      return finding(
          true, subject, "no connection is known to be spare in the data source: waiters poll", "");
    }
    boolean heard = isHeard();
    return finding(
        heard,
        subject,
        "LISTEN and NOTIFY" + (heard ? "" : ": what is said is not heard, waiters poll"),
        "a proxy lends sessions out for a transaction each: name the server itself, or a pool in session mode");
  }

  private boolean isHeard() throws SQLException {
    Connection aside = context.source().connectAside();
    try {
      boolean autoCommit = aside.getAutoCommit();
      int timeout = aside.getNetworkTimeout();
      aside.setNetworkTimeout(Runnable::run, context.timeoutMillis());
      aside.setAutoCommit(true);
      boolean heard = PostgresProbe.comesBack(
          aside,
          channel -> PostgresProbe.say(session.connection(), channel),
          context.runtime().ticker());
      aside.setAutoCommit(autoCommit);
      aside.setNetworkTimeout(Runnable::run, timeout);
      return heard;
    } finally {
      aside.close();
    }
  }
}
