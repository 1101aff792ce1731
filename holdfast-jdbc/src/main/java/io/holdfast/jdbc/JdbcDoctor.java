// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Looks at a database with an operator's eyes. */
final class JdbcDoctor {
  private static final long CLOCK_SLACK_US = 1_000_000;

  private final JdbcContext context;
  private final List<Finding> findings = new ArrayList<>();

  JdbcDoctor(JdbcContext context) {
    this.context = context;
  }

  List<Finding> look(JdbcSession session) throws SQLException {
    DatabaseMetaData about = session.connection().getMetaData();
    add(
        Level.OK,
        "server",
        about.getDatabaseProductName() + " " + about.getDatabaseProductVersion() + ", driver "
            + about.getDriverName() + " " + about.getDriverVersion(),
        "");
    add(
        Level.OK,
        "tables",
        session.tables().lock() + " and others, format " + JdbcSchema.FORMAT,
        "");
    clock(session);
    findings.addAll(context.dialect().diagnose(context, session));
    return List.copyOf(findings);
  }

  private void clock(JdbcSession session) throws SQLException {
    Moment before = context.now();
    long theirs = context.dialect().now(session);
    long ours = (before.wallMillis() + context.now().wallMillis()) * 500;
    long ahead = theirs - ours;
    boolean close = Math.abs(ahead) <= CLOCK_SLACK_US;
    add(
        close ? Level.OK : Level.WARNING,
        "clock",
        "the server's is " + Math.abs(ahead) / 1000 + " ms " + (ahead < 0 ? "behind" : "ahead of")
            + " this machine's",
        close
            ? ""
            : "leases are judged by the server's clock alone; keep both clocks right, with chrony or ntpd");
  }

  private void add(Level level, String subject, String message, String advice) {
    findings.add(new Finding(level, subject, message, advice));
  }
}
