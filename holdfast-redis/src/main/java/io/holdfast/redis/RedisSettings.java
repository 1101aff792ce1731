// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * How locks are stored through the application's own clients: what {@code holdfast.*} parameters say in an address.
 *
 * <pre>{@code
 * RedisSettings settings = RedisSettings.builder().prefix("jobs:").build();
 * RedisStore store = RedisStore.using(client, settings);
 * }</pre>
 *
 * @param prefix what all keys and channels begin with; another prefix is another set of locks. The same for all clients
 *     that share locks. Without braces. Default {@code holdfast:}
 * @param retention how long the record of a lock stays after its latest grant, a minute to ten years. More makes tokens
 *     survive a clock that is set back further, and keeps more keys. Default 24 h
 * @param replicas how many replicas must have confirmed a grant or a renewal before it counts, 0 to 100. More makes a
 *     failover less likely to forget a hold, and fewer failures of replicas bearable; each grant and renewal waits for
 *     them, on a connection of its own. Default 0
 * @param replicasTimeout how long they have time, 10 ms to a minute; at most half of a request's time. A grant that was
 *     not confirmed by then is given back, by the engine. Default 500 ms
 */
public record RedisSettings(
    String prefix, Duration retention, int replicas, Duration replicasTimeout) {
  static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);
  static final Duration LONGEST_RETENTION = Duration.ofDays(3660);
  static final Duration SHORTEST_WAIT = Duration.ofMillis(10);
  static final Duration LONGEST_WAIT = Duration.ofMinutes(1);
  static final int MOST_REPLICAS = 100;

  private static final RedisSettings DEFAULTS =
      new RedisSettings("holdfast:", Duration.ofHours(24), 0, Duration.ofMillis(500));

  /**
   * Checks the settings, all together.
   *
   * @throws IllegalArgumentException if one is out of range; the message names every problem
   */
  public RedisSettings {
    Objects.requireNonNull(prefix, "prefix");
    Objects.requireNonNull(retention, "retention");
    Objects.requireNonNull(replicasTimeout, "replicasTimeout");
    List<String> problems = new ArrayList<>();
    if (marksASlot(prefix)) {
      problems.add("prefix must not contain { or }, which mark what decides over a key's place in"
          + " a cluster, as in " + prefix);
    }
    if (isOutside(retention, SHORTEST_RETENTION, LONGEST_RETENTION)) {
      problems.add(
          "retention must be from 1 minute to 3660 days, not " + DurationText.exact(retention));
    }
    if (replicas < 0 || replicas > MOST_REPLICAS) {
      problems.add("replicas must be from 0 to " + MOST_REPLICAS + ", not " + replicas);
    }
    if (isOutside(replicasTimeout, SHORTEST_WAIT, LONGEST_WAIT)) {
      problems.add("replicasTimeout must be from 10 ms to 1 minute, not "
          + DurationText.exact(replicasTimeout));
    }
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", problems));
    }
  }

  private static boolean isOutside(Duration value, Duration least, Duration most) {
    return value.compareTo(least) < 0 || value.compareTo(most) > 0;
  }

  static boolean marksASlot(String prefix) {
    return prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0;
  }

  /**
   * Returns the default settings, which an address without parameters has, too.
   *
   * @return the prefix {@code holdfast:}, a retention of 24 h, and no replicas to wait for
   */
  public static RedisSettings defaults() {
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

  /** Makes {@link RedisSettings}. Not thread-safe. */
  public static final class Builder {
    private String prefix;
    private Duration retention;
    private int replicas;
    private Duration replicasTimeout;

    private Builder(RedisSettings from) {
      prefix = from.prefix;
      retention = from.retention;
      replicas = from.replicas;
      replicasTimeout = from.replicasTimeout;
    }

    /**
     * Sets what all keys and channels begin with. Default: {@code holdfast:}.
     *
     * @param begin without braces; the same for all clients that share locks
     * @return this
     */
    public Builder prefix(String begin) {
      this.prefix = Objects.requireNonNull(begin, "prefix");
      return this;
    }

    /**
     * Sets how long the record of a lock stays after its latest grant. Default: 24 h.
     *
     * @param time a minute to ten years
     * @return this
     */
    public Builder retention(Duration time) {
      this.retention = Objects.requireNonNull(time, "retention");
      return this;
    }

    /**
     * Sets how many replicas must have confirmed a grant or a renewal before it counts. Default: 0.
     *
     * @param count 0 to 100; 0 on Redlock, whose nodes have none
     * @return this
     */
    public Builder replicas(int count) {
      this.replicas = count;
      return this;
    }

    /**
     * Sets how long replicas have time to confirm. Default: 500 ms.
     *
     * @param time 10 ms to a minute
     * @return this
     */
    public Builder replicasTimeout(Duration time) {
      this.replicasTimeout = Objects.requireNonNull(time, "replicasTimeout");
      return this;
    }

    /**
     * Makes the settings.
     *
     * @return immutable settings
     * @throws IllegalArgumentException if one is out of range; the message names every problem
     */
    public RedisSettings build() {
      return new RedisSettings(prefix, retention, replicas, replicasTimeout);
    }
  }
}
