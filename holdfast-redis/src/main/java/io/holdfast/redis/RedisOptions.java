// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import java.time.Duration;

/**
 * How the locks are stored, whatever the connection.
 *
 * @param prefix what all keys and channels begin with
 * @param retention how long a record stays, measured from its revision: what keeps tokens growing
 */
record RedisOptions(String prefix, Duration retention) {
  static final RedisOptions DEFAULT = new RedisOptions("holdfast:", Duration.ofHours(24));

  private static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);
  private static final Duration LONGEST_RETENTION = Duration.ofDays(3660);

  static RedisOptions of(StoreAddress address) {
    String prefix = address.option("prefix").orElse(DEFAULT.prefix);
    if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
      throw new ConfigurationException(
          "holdfast.prefix must not contain { or }: they mark what decides over a key's place in a cluster",
          address.toString(),
          null);
    }
    return new RedisOptions(
        prefix,
        address.duration("retention", DEFAULT.retention, SHORTEST_RETENTION, LONGEST_RETENTION));
  }

  long retentionMicros() {
    return retention.toMillis() * 1000;
  }
}
