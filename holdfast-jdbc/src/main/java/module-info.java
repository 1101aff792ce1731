// SPDX-License-Identifier: Apache-2.0
/** Stores that JDBC reaches. */
module io.holdfast.jdbc {
  requires static com.zaxxer.hikari;
  requires static org.jspecify;
  requires static org.xerial.sqlitejdbc;
  requires transitive io.holdfast.core;
  requires transitive java.sql;

  exports io.holdfast.jdbc;

  provides io.holdfast.spi.LockStoreFactory with
      io.holdfast.jdbc.JdbcStoreFactory,
      io.holdfast.jdbc.SqliteStoreFactory;
}
