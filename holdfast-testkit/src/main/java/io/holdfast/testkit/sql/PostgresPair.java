// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sql;

import io.holdfast.testkit.Await;

/** Two PostgreSQL servers of our own: one that is written to, and a replica that can take its place. */
public final class PostgresPair implements AutoCloseable {
  private final PostgresServer primary;
  private final PostgresServer replica;

  private PostgresPair(PostgresServer primary) {
    this.primary = primary;
    this.replica = PostgresServer.replicaOf(primary);
    awaitReplica();
  }

  /**
   * Starts a pair whose primary waits for nobody: what it has committed may be lost with it.
   *
   * @return a pair whose replica has everything
   */
  public static PostgresPair asynchronous() {
    return new PostgresPair(PostgresServer.with());
  }

  /**
   * Starts a pair whose primary commits nothing that the replica does not have on its disk.
   *
   * @return a pair whose replica has everything
   */
  public static PostgresPair synchronous() {
    PostgresPair pair = asynchronous();
    pair.primary.execute(
        "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()");
    Await.until(
        "the replica counts",
        () -> pair.primary.query("SELECT sync_state FROM pg_stat_replication").contains("sync"));
    return pair;
  }

  /**
   * Returns the server that was the primary at first.
   *
   * @return the server
   */
  public PostgresServer primary() {
    return primary;
  }

  /**
   * Returns the server that was the replica at first.
   *
   * @return the server
   */
  public PostgresServer replica() {
    return replica;
  }

  /**
   * Returns a URL of both, for a client that looks for the one that can be written to.
   *
   * @return the URL, without user and password
   */
  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:" + primary.port() + ",127.0.0.1:" + replica.port() + "/"
        + SqlServer.DATABASE + "?targetServerType=primary";
  }

  /** Waits until the replica shows all that the primary has committed by now. */
  public void awaitReplica() {
    String written = primary.query("SELECT pg_current_wal_flush_lsn()").get(0);
    String shown = "SELECT COALESCE(pg_last_wal_replay_lsn() >= '" + written + "', false)";
    Await.until("the replica has everything", () -> replica.query(shown).contains("t"));
  }

  /** Lets the replica hear nothing of the primary any more: what is committed from here on is lost in a failover. */
  public void cutReplica() {
    replica.execute("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()");
    Await.until(
        "the replica is cut off",
        () -> replica.query("SELECT pid FROM pg_stat_wal_receiver").isEmpty()
            && primary.query("SELECT pid FROM pg_stat_replication").isEmpty());
  }

  /** Makes the replica a server that is written to. The former primary stays as it is: kill it before, or have two. */
  public void promote() {
    replica.execute("SELECT pg_promote(true, 60)");
    Await.until(
        "the replica takes its place",
        () -> replica.query("SELECT pg_is_in_recovery()").contains("f"));
  }

  @Override
  public void close() {
    try (primary) {
      replica.close();
    }
  }
}
