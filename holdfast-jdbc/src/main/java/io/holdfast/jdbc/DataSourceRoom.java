// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import javax.sql.DataSource;

/** What is known of how many connections a data source has to give. HikariCP and the driver need not be there. */
final class DataSourceRoom {
  /** One for renewals, one for the work, one that listens, and one for the application. */
  private static final int ROOMY = 4;

  private static final String UNPOOLED = "org.postgresql.ds.PGSimpleDataSource";

  private DataSourceRoom() {}

  /** Says whether one may be kept while somebody waits. What is not known to be roomy is left alone. */
  static boolean isThere(DataSource dataSource) {
    try {
      return dataSource.getClass().getName().equals(UNPOOLED)
          || (isHikariPresent() && Hikari.isRoomy(dataSource));
    } catch (SQLException e) {
      // it does not say what it wraps
      return false;
    }
  }

  /** Says whether the pool's classes are there: {@code holdfast-sqlite} goes without, and so does a module path. */
  static boolean isHikariPresent() {
    try {
      Class<?> pool = Class.forName(
          "com.zaxxer.hikari.HikariDataSource", false, DataSourceRoom.class.getClassLoader());
      return DataSourceRoom.class.getModule().canRead(pool.getModule());
    } catch (ClassNotFoundException e) {
      // then it is no such pool
      return false;
    }
  }

  /** The pool's class is looked for when this one is, and not before. */
  private static final class Hikari {
    static boolean isRoomy(DataSource dataSource) throws SQLException {
      HikariDataSource pool = null;
      if (dataSource instanceof HikariDataSource itself) {
        pool = itself;
      } else if (dataSource.isWrapperFor(HikariDataSource.class)) {
        pool = dataSource.unwrap(HikariDataSource.class);
      }
      return pool != null && pool.getMaximumPoolSize() >= ROOMY;
    }
  }
}
