// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import java.time.Duration;
import java.util.Optional;

/**
 * How a database is used.
 *
 * @param tables the names of the tables
 * @param retention how long a released lock's row stays, measured from its revision: what keeps tokens growing
 * @param pollAtMost the longest that a waiter does not look
 * @param connections how many connections there may be beside the one for renewals
 * @param createsTables whether missing tables are made
 */
record JdbcOptions(
    JdbcTables tables,
    Duration retention,
    Duration pollAtMost,
    int connections,
    boolean createsTables) {
  static final String PREFIX = "holdfast_";
  static final JdbcOptions DEFAULT = new JdbcOptions(
      JdbcTables.of("", PREFIX), Duration.ofHours(24), Duration.ofMillis(50), 8, true);

  private static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);
  private static final Duration LONGEST_RETENTION = Duration.ofDays(3660);
  private static final Duration SHORTEST_POLL = Duration.ofMillis(2);
  private static final Duration LONGEST_POLL = Duration.ofSeconds(10);
  private static final int MOST_CONNECTIONS = 256;

  /** A database's shortest limit for an identifier is 63 bytes; the names of our tables and keys come on top. */
  private static final String IDENTIFIER = "[a-z_][a-z0-9_]{0,39}";

  /**
   * Reads an address.
   *
   * @throws ConfigurationException if it does not make sense
   */
  static JdbcOptions of(StoreAddress address) {
    address.requireOnly("retention", "poll", "connections", "prefix", "schema", "tables");
    String schema = identifier(address, "schema").orElse("");
    return new JdbcOptions(
        JdbcTables.of(schema, identifier(address, "prefix").orElse(PREFIX)),
        address.duration("retention", DEFAULT.retention, SHORTEST_RETENTION, LONGEST_RETENTION),
        address.duration("poll", DEFAULT.pollAtMost, SHORTEST_POLL, LONGEST_POLL),
        connections(address),
        create(address));
  }

  private static Optional<String> identifier(StoreAddress address, String option) {
    Optional<String> text = address.option(option);
    if (text.isPresent() && !text.get().matches(IDENTIFIER)) {
      throw refused(
          address,
          option,
          text.get(),
          "a name of lower-case letters, digits and _, up to 40 of them, not beginning with a digit");
    }
    return text;
  }

  private static int connections(StoreAddress address) {
    Optional<String> text = address.option("connections");
    if (text.isEmpty()) {
      return DEFAULT.connections;
    }
    try {
      int number = Integer.parseInt(text.get());
      if (number >= 1 && number <= MOST_CONNECTIONS) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw refused(address, "connections", text.get(), "a number from 1 to " + MOST_CONNECTIONS);
    }
    throw refused(address, "connections", text.get(), "a number from 1 to " + MOST_CONNECTIONS);
  }

  private static boolean create(StoreAddress address) {
    String text = address.option("tables").orElse("create");
    if (!text.equals("create") && !text.equals("require")) {
      throw refused(
          address,
          "tables",
          text,
          "\"create\" (missing tables are made) or \"require\" (they must be there)");
    }
    return text.equals("create");
  }

  private static ConfigurationException refused(
      StoreAddress address, String option, String text, String expected) {
    return new ConfigurationException(
        "holdfast." + option + "=" + text + " is not " + expected, address.toString(), null);
  }
}
