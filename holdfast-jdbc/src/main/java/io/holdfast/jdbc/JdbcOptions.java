// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * How a database is used.
 *
 * @param tables the names of the tables
 * @param retention how long a released lock's row stays, measured from its revision: what keeps tokens growing
 * @param pollAtMost the longest that a waiter does not look
 * @param connections how many connections there may be beside the one for renewals
 * @param createsTables whether the address lets missing tables be made
 * @param onlyLooks whether the client only looks, and makes no tables even so
 * @param listening whether waiters listen
 * @param durability what a commit waits for
 */
record JdbcOptions(
    JdbcTables tables,
    Duration retention,
    Duration pollAtMost,
    int connections,
    boolean createsTables,
    boolean onlyLooks,
    Listening listening,
    Durability durability) {
  static final JdbcOptions DEFAULT = of(JdbcSettings.defaults());

  static JdbcOptions of(JdbcSettings settings) {
    return new JdbcOptions(
        JdbcTables.of(settings.schema(), settings.prefix()),
        settings.retention(),
        settings.poll(),
        settings.connections(),
        settings.createsTables(),
        false,
        settings.listening(),
        settings.durability());
  }

  /**
   * Reads an address.
   *
   * @throws ConfigurationException if it does not make sense
   */
  static JdbcOptions of(StoreAddress address) {
    address.requireOnly(
        "retention", "poll", "connections", "prefix", "schema", "tables", "listen", "durability");
    JdbcSettings.Builder settings = JdbcSettings.builder()
        .retention(address.duration(
            "retention",
            DEFAULT.retention,
            JdbcSettings.SHORTEST_RETENTION,
            JdbcSettings.LONGEST_RETENTION))
        .poll(address.duration(
            "poll", DEFAULT.pollAtMost, JdbcSettings.SHORTEST_POLL, JdbcSettings.LONGEST_POLL))
        .connections(connections(address))
        .createsTables(one(
            address,
            "tables",
            "create",
            Map.of("create", true, "require", false),
            "\"create\" (missing tables are made) or \"require\" (they must be there)"))
        .listening(one(
            address,
            "listen",
            "auto",
            Map.of("auto", Listening.AUTO, "always", Listening.ALWAYS, "never", Listening.NEVER),
            "\"auto\", \"always\" (waiters on PostgreSQL listen) or \"never\" (they poll)"))
        .durability(
            one(
                address,
                "durability",
                "database",
                Map.of("database", Durability.DATABASE, "relaxed", Durability.RELAXED),
                "\"database\" (what it is set to) or \"relaxed\" (PostgreSQL: a crash may forget the last grants)"));
    identifier(address, "schema").ifPresent(settings::schema);
    identifier(address, "prefix").ifPresent(settings::prefix);
    return of(settings.build());
  }

  /** The same for a client that only looks. */
  JdbcOptions looking() {
    return new JdbcOptions(
        tables, retention, pollAtMost, connections, createsTables, true, listening, durability);
  }

  private static Optional<String> identifier(StoreAddress address, String option) {
    Optional<String> text = address.option(option);
    if (text.isPresent() && !JdbcSettings.isIdentifier(text.get())) {
      throw refused(address, option, text.get(), JdbcSettings.IDENTIFIERS);
    }
    return text;
  }

  private static int connections(StoreAddress address) {
    Optional<String> text = address.option("connections");
    if (text.isEmpty()) {
      return DEFAULT.connections;
    }
    String expected = "a number from 1 to " + JdbcSettings.MOST_CONNECTIONS;
    try {
      int number = Integer.parseInt(text.get());
      if (number >= 1 && number <= JdbcSettings.MOST_CONNECTIONS) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw refused(address, "connections", text.get(), expected);
    }
    throw refused(address, "connections", text.get(), expected);
  }

  private static <T> T one(
      StoreAddress address,
      String option,
      String otherwise,
      Map<String, T> known,
      String expected) {
    String text = address.option(option).orElse(otherwise);
    T value = known.get(text);
    if (value == null) {
      throw refused(address, option, text, expected);
    }
    return value;
  }

  private static ConfigurationException refused(
      StoreAddress address, String option, String text, String expected) {
    return new ConfigurationException(
        "holdfast." + option + "=" + text + " is not " + expected, address.toString(), null);
  }

  /**
   * Makes what speaks to the database.
   *
   * @param store its address for people
   * @throws ConfigurationException if the database cannot do what is asked for
   */
  JdbcDialect dialect(boolean postgres, String store) {
    if (postgres) {
      return new PostgresDialect(durability);
    }
    if (durability == Durability.RELAXED) {
      throw new ConfigurationException(
          "holdfast.durability=relaxed is PostgreSQL's alone: what a commit waits for is a setting of the whole server on"
              + " MySQL and MariaDB (innodb_flush_log_at_trx_commit), and a connection cannot have its own",
          store,
          null);
    }
    return new MySqlDialect();
  }
}
