// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.ConfigurationException;
import io.holdfast.redis.RedisReplicas.Rule;
import io.holdfast.spi.StoreAddress;
import java.time.Duration;

/**
 * How the locks are stored, whatever the connection.
 *
 * @param prefix what all keys and channels begin with
 * @param retention how long a record stays, measured from its revision: what keeps tokens growing
 * @param replicas which replicas have to confirm a grant or a renewal
 */
record RedisOptions(String prefix, Duration retention, Rule replicas) {
  private static final RedisOptions DEFAULT = of(RedisSettings.defaults());

  static RedisOptions of(RedisSettings settings) {
    return new RedisOptions(
        settings.prefix(),
        settings.retention(),
        new Rule(settings.replicas(), settings.replicasTimeout()));
  }

  static RedisOptions of(StoreAddress address) {
    String prefix = address.option("prefix").orElse(DEFAULT.prefix);
    if (RedisSettings.marksASlot(prefix)) {
      throw new ConfigurationException(
          "holdfast.prefix must not contain { or }: they mark what decides over a key's place in a cluster",
          address.toString(),
          null);
    }
    return new RedisOptions(
        prefix,
        address.duration(
            "retention",
            DEFAULT.retention,
            RedisSettings.SHORTEST_RETENTION,
            RedisSettings.LONGEST_RETENTION),
        replicas(address));
  }

  private static Rule replicas(StoreAddress address) {
    Duration limit = address.duration(
        "replicas-timeout",
        DEFAULT.replicas.limit(),
        RedisSettings.SHORTEST_WAIT,
        RedisSettings.LONGEST_WAIT);
    String text = address.option("replicas").orElse("0");
    try {
      int wanted = Integer.parseInt(text.trim());
      if (wanted >= 0 && wanted <= RedisSettings.MOST_REPLICAS) {
        return new Rule(wanted, limit);
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw new ConfigurationException(
        "holdfast.replicas=" + text + " is no number from 0 to " + RedisSettings.MOST_REPLICAS,
        address.toString(),
        null);
  }

  long retentionMicros() {
    return retention.toMillis() * 1000;
  }
}
