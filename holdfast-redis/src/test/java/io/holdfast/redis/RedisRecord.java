// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;

/**
 * What a server has of a lock.
 *
 * @param revision of the last grant
 * @param until when the lease ends, by the server's clock
 * @param claim who holds it, empty for nobody
 */
record RedisRecord(long revision, long until, String claim) {
  private static final String READ = """
      local packed = redis.call('HGET', KEYS[1], 'l')
      local _, _, revision, till, _, _, at = struct.unpack('<BBi8i8i8i8', packed)
      return {revision, till, string.sub(packed, at)}
      """;

  /** Reads the record of a lock that was had before. */
  static RedisRecord of(RedisCommands<String, String> redis, String name) {
    List<Object> parts = redis.eval(READ, ScriptOutputType.MULTI, "holdfast:{" + name + "}");
    return new RedisRecord((Long) parts.get(0), (Long) parts.get(1), (String) parts.get(2));
  }
}
