// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.sql.MySqlFamily;
import io.holdfast.testkit.sql.SqlServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Waits for transactions to wait. */
final class Blocked {
  /** InnoDB shows its transactions as they were when somebody looked within the last tenth of a second. */
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(150);

  private Blocked() {}

  /** Waits until so many transactions of a server wait for row locks. */
  static void until(SqlServer server, int many) {
    AtomicLong next = new AtomicLong(System.nanoTime() + BETWEEN_LOOKS.toNanos());
    Await.until(many + " transactions wait", () -> {
      if (System.nanoTime() - next.get() < 0) {
        return false;
      }
      boolean wait = waiting(server) == many;
      next.set(System.nanoTime() + BETWEEN_LOOKS.toNanos());
      return wait;
    });
  }

  private static long waiting(SqlServer server) {
    String sql = server instanceof MySqlFamily
        ? "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
        : "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = 'holdfast'";
    return Long.parseLong(server.query(sql).get(0));
  }
}
