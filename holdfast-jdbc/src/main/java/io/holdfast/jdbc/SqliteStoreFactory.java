// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreFactory;
import io.holdfast.spi.StoreAddress;
import java.util.Set;

/**
 * Makes SQLite stores from {@code sqlite:PATH} and {@code jdbc:sqlite:PATH}. The path is taken as it is written, relative
 * to the working folder unless it is absolute. Parameters:
 *
 * <ul>
 *   <li>{@code holdfast.retention}: how long the row of a lock stays after its latest use, from {@code 1m}. More makes
 *       tokens survive a clock that is set back further, and a larger file. Default {@code 24h}.
 *   <li>{@code holdfast.poll}: the longest that a waiter does not look, {@code 2ms} to {@code 10s}. More wakes a waiting
 *       process less often, and a waiter later. Default {@code 25ms}.
 *   <li>{@code holdfast.network-file=allow}: take a file on a network file system.
 *   <li>{@code holdfast.work-mark=ID}, letters and digits: for a process whose work under a lock may go on after the process
 *       itself has died, as that of a command that it starts. Such a process makes the file {@code PATH.ID.work}, with the
 *       path's links followed, before the work begins, and sees to it that the file is there until the work has ended. While
 *       it is, a lock of the process that died is free only when its lease has ended. {@code holdfast run} does so.
 * </ul>
 */
public final class SqliteStoreFactory implements LockStoreFactory {
  /** Makes a factory; {@link java.util.ServiceLoader} does. */
  public SqliteStoreFactory() {}

  @Override
  public Set<String> schemes() {
    return Set.of("sqlite", "jdbc:sqlite");
  }

  @Override
  public String artifact() {
    return "io.holdfast:holdfast-sqlite";
  }

  @Override
  public LockStore open(StoreAddress address) {
    return new SqliteStore(SqliteOptions.of(address), address.toString());
  }
}
