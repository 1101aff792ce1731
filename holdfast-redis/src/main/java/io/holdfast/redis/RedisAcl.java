// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import java.util.Comparator;
import java.util.Map;

/**
 * Says what the least is that a user needs, in words that the server's version knows: it refuses the whole line
 * otherwise.
 */
final class RedisAcl {
  /** What every topology needs. */
  private static final String COMMANDS = "+eval +evalsha +time +exists +hset +hget +hdel +hvals"
      + " +pexpireat +del +zadd +zrem +zrange +zscore +zcard +publish +subscribe +unsubscribe +scan +ping"
      + " +hello +auth +select +client|setname +info";

  private static final Version USERS = new Version(6, 0);
  private static final Version CHANNELS = new Version(6, 2);
  private static final Version SHARDS = new Version(7, 0);

  private RedisAcl() {}

  /** What a server calls itself. */
  record Version(int major, int minor) implements Comparable<Version> {
    /** Without a word of the server's it is taken for a new one. */
    static final Version UNKNOWN = new Version(Integer.MAX_VALUE, 0);

    /** Reads the answer of INFO. */
    static Version of(Map<String, String> info) {
      String[] parts = info.getOrDefault("redis_version", "").split("\\.", -1);
      try {
        return parts.length < 2
            ? UNKNOWN
            : new Version(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
      } catch (NumberFormatException e) {
        // a name that is no number
        return UNKNOWN;
      }
    }

    boolean isKnown() {
      return !equals(UNKNOWN);
    }

    @Override
    public int compareTo(Version other) {
      return Comparator.comparingInt(Version::major)
          .thenComparingInt(Version::minor)
          .compare(this, other);
    }

    boolean has(Version since) {
      return compareTo(since) >= 0;
    }
  }

  /** On one server, and on the primary that sentinels know. */
  static String single(Version version, RedisOptions options) {
    return line(version, options, "");
  }

  /** On each node of a cluster, of which the oldest is of this version. */
  static String cluster(Version version, RedisOptions options) {
    String shards = version.has(SHARDS) ? " +ssubscribe +sunsubscribe +spublish" : "";
    return line(version, options, " +cluster|slots +cluster|info +asking" + shards);
  }

  /** On each node of a Redlock. */
  static String redlock(Version version, RedisOptions options) {
    return line(version, options, " +hmget +zcount +zremrangebyscore");
  }

  private static String line(Version version, RedisOptions options, String more) {
    if (!version.has(USERS)) {
      return "Redis has had users with permissions of their own since version 6; until then a password (requirepass)"
          + " and a network of its own are what there is";
    }
    String channels =
        version.has(CHANNELS) ? " resetchannels &" + options.prefix() + "client:*" : "";
    return "ACL SETUSER NAME on >PASSWORD resetkeys ~" + options.prefix() + "*" + channels
        + " -@all " + COMMANDS + more + (options.replicas().asks() ? " +wait" : "");
  }
}
