// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static io.holdfast.jdbc.ServerDialect.finding;
import static io.holdfast.jdbc.ServerDialect.text;

import io.holdfast.spi.Finding;
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
    String found = "fsync=" + fsync + ", full_page_writes=" + pages + ", synchronous_commit="
        + commit + (isRelaxed() ? ", off for locks: holdfast.durability=relaxed" : "");
    String subject = "durability";
    if (!fsync.equals("on") || !pages.equals("on")) {
      return finding(
          false,
          subject,
          found,
          "a crash of the machine can damage the whole database: set fsync and full_page_writes to on");
    }
    return finding(
        !commit.equals("off") && !isRelaxed(),
        subject,
        found,
        "a crash of the server can forget the last grants: "
            + (isRelaxed()
                ? "leave holdfast.durability=relaxed out, unless that is meant so"
                : "set synchronous_commit to on"));
  }

  private boolean isRelaxed() {
    return context.options().durability() == Durability.RELAXED;
  }

  private Finding replication() throws SQLException {
    String standbys = text(session, "SHOW synchronous_standby_names");
    String commit = text(session, "SHOW synchronous_commit");
    String replicas = text(session, "SELECT count(*) FROM pg_stat_replication");
    String found = replicas + " replicas, synchronous_standby_names=\"" + standbys + '"';
    String subject = "replication";
    if (standbys.isEmpty()) {
      return finding(
          replicas.equals("0"),
          subject,
          found,
          "a failover to an asynchronous replica forgets the last grants: name synchronous standbys");
    }
    boolean waits = !isRelaxed() && !commit.equals("local") && !commit.equals("off");
    return finding(
        waits,
        subject,
        found + (waits ? "" : ", and commits of locks do not wait for them"),
        "a failover forgets the last grants, though standbys are named: "
            + (isRelaxed()
                ? "leave holdfast.durability=relaxed out"
                : "set synchronous_commit to on, not " + commit));
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
        "the oldest" + whoseAreSeen() + " is open for " + oldest + " s",
        "while it is open, the versions of every lock's row pile up, and each acquire gets slower: end it (see"
            + " pg_stat_activity), and set idle_in_transaction_session_timeout");
  }

  /** When the transaction of another user has begun is told to few: what cannot be seen must not look like nothing. */
  private String whoseAreSeen() throws SQLException {
    String user = text(
        session,
        "SELECT CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE') THEN '' ELSE quote_ident(current_user) END");
    return user.isEmpty()
        ? ""
        : " of this user (those of others cannot be seen: GRANT pg_read_all_stats TO " + user + ")";
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
    return LentConnection.use(
        context.source().connectAside(),
        context.timeoutMillis(),
        aside -> PostgresProbe.comesBack(
            aside,
            channel -> PostgresProbe.say(session.connection(), channel),
            context.runtime().ticker()));
  }
}
