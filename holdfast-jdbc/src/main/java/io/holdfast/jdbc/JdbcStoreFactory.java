// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreFactory;
import io.holdfast.spi.StoreAddress;
import java.util.Objects;
import java.util.Set;

/**
 * Makes stores from {@code jdbc:postgresql:}, {@code jdbc:mysql:} and {@code jdbc:mariadb:} addresses. What is not {@code
 * holdfast.*} goes to the driver as it is, user and password too. A driver must be on the class path. MariaDB's
 * driver, which serves MySQL, too, insists on TLS unless the address says {@code sslMode=disable}. Parameters:
 *
 * <ul>
 *   <li>{@code holdfast.schema}, {@code holdfast.prefix}: where the tables are, and what their names begin with. Default:
 *       the connection's own schema, {@code holdfast_}.
 *   <li>{@code holdfast.tables}: {@code create} (default) makes missing tables, {@code require} refuses to.
 *   <li>{@code holdfast.connections}: how many connections there may be at once, beside the one for renewals. Default 8.
 *   <li>{@code holdfast.retention}: how long the row of a lock stays after its latest use, from {@code 1m}. More makes
 *       tokens survive a clock that is set back further, and a larger table. Default {@code 24h}.
 *   <li>{@code holdfast.poll}: the longest that a waiter does not look, where it does not listen, {@code 2ms} to {@code 10s}.
 *       Default {@code 50ms}.
 *   <li>{@code holdfast.listen}: {@code never} lets waiters on PostgreSQL poll; default {@code auto}, in which they listen,
 *       on a connection that is there only while somebody waits.
 *   <li>{@code holdfast.durability}: {@code relaxed}, on PostgreSQL only, waits for no commit to be on disk: more than twice
 *       as fast, and a crash of the server forgets its last moments. Default {@code database}: as it is set there.
 * </ul>
 */
public final class JdbcStoreFactory implements LockStoreFactory {
  /** Makes a factory; {@link java.util.ServiceLoader} does. */
  public JdbcStoreFactory() {}

  @Override
  public Set<String> schemes() {
    return Set.of("jdbc:postgresql", "jdbc:mysql", "jdbc:mariadb");
  }

  @Override
  public String artifact() {
    return "io.holdfast:holdfast-jdbc";
  }

  @Override
  public LockStore open(StoreAddress address) {
    return open(address, JdbcOptions.of(Objects.requireNonNull(address, "address")));
  }

  @Override
  public LockStore openExisting(StoreAddress address) {
    return open(
        address, JdbcOptions.of(Objects.requireNonNull(address, "address")).looking());
  }

  private static LockStore open(StoreAddress address, JdbcOptions options) {
    boolean isPostgres = address.scheme().equals("jdbc:postgresql");
    // PostgreSQL's driver takes the name of a database alone; one with an @ was meant as a login, which a server would quote
    if (!address.hasHosts() && (!isPostgres || address.rest().indexOf('@') >= 0)) {
      throw new ConfigurationException(
          "the address does not begin with " + address.scheme() + "://; write " + address.scheme()
              + "://HOST:PORT/DATABASE",
          address.toString(),
          null);
    }
    JdbcDialect dialect = options.dialect(isPostgres, address.toString());
    return new JdbcStore(PooledSource.of(address, options), dialect, options, address.toString());
  }
}
