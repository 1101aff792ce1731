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
        .with(DataLocks.class, locks)
        .with(JdbcSettings.class, JdbcSettings.defaults())
        .with(JdbcSettings.Builder.class, JdbcSettings.builder())
        .with(OptimisticLock.class, locks.optimistic("x"))
        .with(RowLock.class, locks.rowLock("x"))
        .with(SessionLock.class, locks.sessionLock("x"))
        .with(VersionColumn.class, VersionColumn.of("t", "id", "version"))
        .ofModule(JdbcStore.class)
        .areRefused(40);
  }
}
