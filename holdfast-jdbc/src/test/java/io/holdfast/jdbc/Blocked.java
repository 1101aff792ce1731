// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.testkit.Await;

/** Waits for transactions to wait. */
final class Blocked {
  private Blocked() {}

  /** Waits until so many transactions of a server wait for row locks. */
  static void until(SqlServer server, int many) {
    Await.until(many + " transactions wait", () -> waiting(server) == many);
  }

  private static long waiting(SqlServer server) {
    String sql = server instanceof MySqlFamily
        ? "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
        : "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = 'holdfast'";
    return Long.parseLong(server.query(sql).get(0));
  }
}
