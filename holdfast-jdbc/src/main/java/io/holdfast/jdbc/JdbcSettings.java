// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * How locks are stored through the application's own data source: what {@code holdfast.*} parameters say in an address.
 *
 * <pre>{@code
 * JdbcSettings settings = JdbcSettings.builder().schema("locks").createsTables(false).build();
 * JdbcStore store = JdbcStore.using(dataSource, settings);
 * }</pre>
 *
 * @param schema where the tables are; empty for the connection's own schema. Lower-case letters, digits and {@code _}, up
 *     to 40. Default empty
 * @param prefix what the tables' names begin with; another prefix is another set of locks. As {@code schema}, and not empty.
 *     Default {@code holdfast_}
 * @param createsTables whether missing tables are made; else the first contact fails without them. Default true
 * @param retention how long the row of a lock stays after its latest use, a minute to ten years. More makes tokens survive
 *     a clock that is set back further, and a larger table. Default 24 h
 * @param poll the longest that a waiter does not look, where it does not listen, 2 ms to 10 s. More makes fewer statements
 *     and later hand-overs. Default 50 ms
 * @param connections how many connections are borrowed at once at most, beside the one for renewals, 1 to 256. Default 8
 * @param listening whether waiters on PostgreSQL listen, on one connection more. Default {@link Listening#AUTO}
 * @param durability what a commit waits for. Default {@link Durability#DATABASE}
 */
public record JdbcSettings(
    String schema,
    String prefix,
    boolean createsTables,
    Duration retention,
    Duration poll,
    int connections,
    Listening listening,
    Durability durability) {
  static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);
  static final Duration LONGEST_RETENTION = Duration.ofDays(3660);
  static final Duration SHORTEST_POLL = Duration.ofMillis(2);
  static final Duration LONGEST_POLL = Duration.ofSeconds(10);
  static final int MOST_CONNECTIONS = 256;

  /** A database's shortest limit for an identifier is 63 bytes; the names of our tables and keys come on top. */
  private static final String IDENTIFIER = "[a-z_][a-z0-9_]{0,39}";

  static final String IDENTIFIERS =
      "a name of lower-case letters, digits and _, up to 40 of them, not beginning with a digit";

  private static final JdbcSettings DEFAULTS = new JdbcSettings(
      "",
      "holdfast_",
      true,
      Duration.ofHours(24),
      Duration.ofMillis(50),
      8,
      Listening.AUTO,
      Durability.DATABASE);

  /**
   * Checks the settings, all together.
   *
   * @throws IllegalArgumentException if one is out of range; the message names every problem
   */
  public JdbcSettings {
    Objects.requireNonNull(schema, "schema");
    Objects.requireNonNull(prefix, "prefix");
    Objects.requireNonNull(retention, "retention");
    Objects.requireNonNull(poll, "poll");
    Objects.requireNonNull(listening, "listening");
    Objects.requireNonNull(durability, "durability");
    List<String> problems = new ArrayList<>();
    if (!schema.isEmpty() && !isIdentifier(schema)) {
      problems.add("schema must be empty or " + IDENTIFIERS + ", not " + schema);
    }
    if (!isIdentifier(prefix)) {
      problems.add("prefix must be " + IDENTIFIERS + ", not " + prefix);
    }
    if (isOutside(retention, SHORTEST_RETENTION, LONGEST_RETENTION)) {
      problems.add(
          "retention must be from 1 minute to 3660 days, not " + DurationText.exact(retention));
    }
    if (isOutside(poll, SHORTEST_POLL, LONGEST_POLL)) {
      problems.add("poll must be from 2 ms to 10 s, not " + DurationText.exact(poll));
    }
    if (connections < 1 || connections > MOST_CONNECTIONS) {
      problems.add("connections must be from 1 to " + MOST_CONNECTIONS + ", not " + connections);
    }
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", problems));
    }
  }

  private static boolean isOutside(Duration value, Duration least, Duration most) {
    return value.compareTo(least) < 0 || value.compareTo(most) > 0;
  }

  static boolean isIdentifier(String text) {
    return text.matches(IDENTIFIER);
  }

  /**
   * Returns the default settings, which an address without parameters has, too.
   *
   * @return as the parameters of this record say
   */
  public static JdbcSettings defaults() {
    return DEFAULTS;
  }

  /**
   * Starts from the defaults.
   *
   * @return a new builder
   */
  public static Builder builder() {
    return new Builder(DEFAULTS);
  }

  /**
   * Starts from these settings.
   *
   * @return a new builder
   */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** Makes {@link JdbcSettings}. Not thread-safe. */
  public static final class Builder {
    private String schema;
    private String prefix;
    private boolean createsTables;
    private Duration retention;
    private Duration poll;
    private int connections;
    private Listening listening;
    private Durability durability;

    private Builder(JdbcSettings from) {
      schema = from.schema;
      prefix = from.prefix;
      createsTables = from.createsTables;
      retention = from.retention;
      poll = from.poll;
      connections = from.connections;
      listening = from.listening;
      durability = from.durability;
    }

    /**
     * Sets where the tables are. Default: empty, the connection's own schema.
     *
     * @param name empty for the connection's own schema
     * @return this
     */
    public Builder schema(String name) {
      this.schema = Objects.requireNonNull(name, "schema");
      return this;
    }

    /**
     * Sets what the tables' names begin with. Default: {@code holdfast_}.
     *
     * @param begin the same for all clients that share locks
     * @return this
     */
    public Builder prefix(String begin) {
      this.prefix = Objects.requireNonNull(begin, "prefix");
      return this;
    }

    /**
     * Sets whether missing tables are made. Default: true.
     *
     * @param makes false if they must be there
     * @return this
     */
    public Builder createsTables(boolean makes) {
      this.createsTables = makes;
      return this;
    }

    /**
     * Sets how long the row of a lock stays after its latest use. Default: 24 h.
     *
     * @param time a minute to ten years
     * @return this
     */
    public Builder retention(Duration time) {
      this.retention = Objects.requireNonNull(time, "retention");
      return this;
    }

    /**
     * Sets the longest that a waiter does not look, where it does not listen. Default: 50 ms.
     *
     * @param time 2 ms to 10 s
     * @return this
     */
    public Builder poll(Duration time) {
      this.poll = Objects.requireNonNull(time, "poll");
      return this;
    }

    /**
     * Sets how many connections are borrowed at once at most, beside the one for renewals. Default: 8.
     *
     * @param count 1 to 256
     * @return this
     */
    public Builder connections(int count) {
      this.connections = count;
      return this;
    }

    /**
     * Sets whether waiters on PostgreSQL listen. Default: {@link Listening#AUTO}.
     *
     * @param whether on one connection more, for as long as somebody waits
     * @return this
     */
    public Builder listening(Listening whether) {
      this.listening = Objects.requireNonNull(whether, "listening");
      return this;
    }

    /**
     * Sets what a commit waits for. Default: {@link Durability#DATABASE}.
     *
     * @param what {@link Durability#RELAXED} on PostgreSQL only
     * @return this
     */
    public Builder durability(Durability what) {
      this.durability = Objects.requireNonNull(what, "durability");
      return this;
    }

    /**
     * Makes the settings.
     *
     * @return immutable settings
     * @throws IllegalArgumentException if one is out of range; the message names every problem
     */
    public JdbcSettings build() {
      return new JdbcSettings(
          schema, prefix, createsTables, retention, poll, connections, listening, durability);
    }
  }
}
