// SPDX-License-Identifier: Apache-2.0
/**
 * Stores that JDBC reaches.
 *
 * <p>What PostgreSQL's driver makes by name is exported to it alone; that module need not be there.
 */
@SuppressWarnings("module")
module io.holdfast.jdbc {
  requires static com.zaxxer.hikari;
  requires static org.jspecify;
  requires static org.xerial.sqlitejdbc;
  requires transitive io.holdfast.core;
  requires transitive java.sql;

  exports io.holdfast.jdbc;
  exports io.holdfast.jdbc.postgres to
      org.postgresql.jdbc;

  provides io.holdfast.spi.LockStoreFactory with
      io.holdfast.jdbc.JdbcStoreFactory,
      io.holdfast.jdbc.SqliteStoreFactory;
}
