// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.testkit.contract.NullArguments;
import java.nio.file.Path;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.sqlite.SQLiteDataSource;

/** Null is refused at the call, not first by the store. */
class NullArgumentsTest {
  @Test
  void null_isRefused() {
    DataSource unused = new SQLiteDataSource();
    DataLocks locks = DataLocks.of(unused);
    new NullArguments()
        .with(DataSource.class, unused)
        .with(Path.class, Path.of("x"))
        .with(JdbcSettings.class, JdbcSettings.defaults())
        .of(DataLocks.class, locks)
        .of(FencingGuard.class)
        .of(JdbcSettings.class, JdbcSettings.defaults())
        .of(JdbcSettings.Builder.class, JdbcSettings.builder())
        .of(JdbcStore.class)
        .of(OptimisticLock.class, locks.optimistic("x"))
        .of(RowLock.class, locks.rowLock("x"))
        .of(SessionLock.class, locks.sessionLock("x"))
        .of(SqliteStore.class)
        .of(VersionColumn.class, VersionColumn.of("t", "id", "version"))
        .areRefused(30);
  }
}
