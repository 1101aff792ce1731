// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreFactory;
import io.holdfast.spi.StoreAddress;
import java.util.Objects;
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
 *   <li>{@code holdfast.work-id=ID}, 1 to 40 letters and digits: for work that may outlive the process, such as a command that it
 *       starts. The process creates the file {@code PATH.ID.work}, links in the path resolved, with the lock held and before
 *       the work begins; it, or a helper that survives it, removes the file when the work has ended. If the process dies while
 *       the file exists, its locks are free only when their leases end; another client may delete the file then. {@code
 *       holdfast run} uses it.
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
    return new SqliteStore(
        SqliteOptions.of(Objects.requireNonNull(address, "address")), address.toString());
  }

  /** Its address for people is absolute: a person who looks sees which file was meant. */
  @Override
  public LockStore openExisting(StoreAddress address) {
    SqliteOptions options =
        SqliteOptions.of(Objects.requireNonNull(address, "address")).existing();
    return new SqliteStore(options, address.scheme() + ":" + options.path());
  }
}
