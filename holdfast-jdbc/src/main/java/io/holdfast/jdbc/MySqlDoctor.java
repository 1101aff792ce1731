// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static io.holdfast.jdbc.ServerDialect.finding;
import static io.holdfast.jdbc.ServerDialect.text;

import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Looks at a MySQL or MariaDB: what a crash or a failover forgets, and what slows the locks' rows down. */
final class MySqlDoctor {
  private static final int LONG_SECONDS = 60;

  private final JdbcSession session;

  MySqlDoctor(JdbcSession session) {
    this.session = session;
  }

  List<Finding> look() throws SQLException {
    Map<String, String> settings = settings();
    List<Finding> findings = new ArrayList<>();
    findings.add(role(settings));
    findings.add(durability(settings));
    findings.add(replication(settings));
    findings.add(transactions());
    return findings;
  }

  /** A server has those of its version and of the plug-ins that it has loaded. */
  private Map<String, String> settings() throws SQLException {
    Map<String, String> found = new TreeMap<>();
    try (Statement statement = session.connection().createStatement();
        ResultSet row = statement.executeQuery(
            "SHOW GLOBAL VARIABLES WHERE variable_name IN ('read_only', 'super_read_only', 'log_bin', 'sync_binlog',"
                + " 'innodb_flush_log_at_trx_commit', 'rpl_semi_sync_master_enabled', 'rpl_semi_sync_source_enabled',"
                + " 'rpl_semi_sync_master_timeout', 'rpl_semi_sync_source_timeout', 'group_replication_group_name',"
                + " 'group_replication_consistency', 'wsrep_on')")) {
      while (row.next()) {
        found.put(row.getString(1), row.getString(2));
      }
    }
    return found;
  }

  private static boolean isOn(Map<String, String> settings, String name) {
    String value = settings.getOrDefault(name, "OFF");
    return value.equals("ON") || value.equals("1");
  }

  private static Finding role(Map<String, String> settings) {
    boolean readOnly = isOn(settings, "read_only") || isOn(settings, "super_read_only");
    return finding(
        !readOnly,
        "role",
        readOnly ? "read-only" : "takes writes",
        "name the primary in the address");
  }

  private static Finding durability(Map<String, String> settings) {
    String flush = settings.getOrDefault("innodb_flush_log_at_trx_commit", "");
    String sync = settings.getOrDefault("sync_binlog", "");
    boolean binlog = isOn(settings, "log_bin");
    return finding(
        flush.equals("1") && (!binlog || sync.equals("1")),
        "durability",
        "innodb_flush_log_at_trx_commit=" + flush + ", log_bin="
            + settings.getOrDefault("log_bin", "") + ", sync_binlog=" + sync,
        "a crash of the server can forget the last grants: set innodb_flush_log_at_trx_commit and sync_binlog to"
            + " 1");
  }

  private Finding replication(Map<String, String> settings) throws SQLException {
    if (isOn(settings, "wsrep_on")) {
      return new Finding(
          Level.WARNING,
          "replication",
          "Galera",
          "two nodes can grant one lock at the same time and learn of it at the commit, which fails: let all clients of a"
              + " lock write to one node");
    }
    if (!settings.getOrDefault("group_replication_group_name", "").isEmpty()) {
      return finding(
          true,
          "replication",
          "Group Replication, consistency "
              + settings.getOrDefault("group_replication_consistency", "EVENTUAL"),
          "");
    }
    boolean semiSync = isOn(settings, "rpl_semi_sync_master_enabled")
        || isOn(settings, "rpl_semi_sync_source_enabled");
    String replicas = text(
        session,
        "SELECT count(*) FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'");
    return finding(
        replicas.equals("0") || semiSync,
        "replication",
        replicas + " replicas as far as this user may see, semi-synchronous "
            + (semiSync ? "on" : "off"),
        "a failover to an asynchronous replica forgets the last grants: use semi-synchronous replication or Group"
            + " Replication");
  }

  /** What an old transaction may still want to see is kept: each grant adds a version of its row. */
  private Finding transactions() throws SQLException {
    String oldest;
    try {
      oldest = text(
          session,
          "SELECT coalesce(max(timestampdiff(SECOND, trx_started, now())), 0) FROM information_schema.innodb_trx");
    } catch (SQLException e) {
      return finding(
          true,
          "transactions",
          "this user may not see those of others (it would need PROCESS)",
          "");
    }
    return finding(
        Long.parseLong(oldest) < LONG_SECONDS,
        "transactions",
        "the oldest is open for " + oldest + " s",
        "while it is open, the versions of every lock's row pile up, and one that has locked such a row holds up its lock:"
            + " end it (see information_schema.innodb_trx)");
  }
}
