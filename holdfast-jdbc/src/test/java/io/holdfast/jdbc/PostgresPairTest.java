// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.sql.PgBouncer;
import io.holdfast.testkit.sql.PostgresPair;
import io.holdfast.testkit.sql.PostgresServer;
import io.holdfast.testkit.sql.SqlKind;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What stands around a PostgreSQL of ours: a replica that takes its place, and pgbouncer in front of it. */
@Tag("all")
class PostgresPairTest {
  private static final String ROWS = "SELECT id FROM rows_of_test ORDER BY id";

  @Test
  void aReplicaTakesThePlaceOfItsPrimary() throws SQLException {
    try (PostgresPair pair = PostgresPair.synchronous()) {
      fill(pair.primary());
      pair.primary().execute("INSERT INTO rows_of_test VALUES (2)");
      pair.primary().kill();
      pair.promote();
      assertThat(pair.replica().query(ROWS)).containsExactly("1", "2");
      try (Connection connection = DriverManager.getConnection(
              pair.jdbcUrl(), pair.replica().user(), pair.replica().password());
          Statement statement = connection.createStatement()) {
        statement.execute("CREATE TABLE written (id INT)");
      }
    }
  }

  /** What the replica has not heard of is lost, and the former primary comes back with it. */
  @Test
  void anAsynchronousReplicaForgets() {
    try (PostgresPair pair = PostgresPair.asynchronous()) {
      fill(pair.primary());
      pair.awaitReplica();
      pair.cutReplica();
      pair.primary().execute("INSERT INTO rows_of_test VALUES (2)");
      pair.primary().kill();
      pair.promote();
      assertThat(pair.replica().query(ROWS)).containsExactly("1");
      pair.primary().start();
      assertThat(pair.primary().query(ROWS)).containsExactly("1", "2");
    }
  }

  private static void fill(PostgresServer server) {
    server.execute("CREATE TABLE rows_of_test (id INT)", "INSERT INTO rows_of_test VALUES (1)");
  }

  /** Two clients share the one connection, transaction by transaction. */
  @Test
  void pgbouncerLendsAConnectionForATransaction() throws SQLException {
    PostgresServer server = (PostgresServer) SqlKind.POSTGRESQL.shared();
    try (PgBouncer bouncer = new PgBouncer(server, 1);
        Connection first = bouncer.dataSource().getConnection();
        Connection second = bouncer.dataSource().getConnection()) {
      assertThat(backend(first)).isEqualTo(backend(second)).isEqualTo(backend(first));
    }
  }

  private static int backend(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT pg_backend_pid()")) {
      assertThat(rows.next()).isTrue();
      return rows.getInt(1);
    }
  }
}
