// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whose turn it is when a lease has ended and nobody has handed the lock over. */
@Tag("stores")
class QueueTurnTest {
  private static final String[] KEYS = {"{turn}", "{turn}:q", "{turn}:w"};
  private static final String NEVER = "4503599627370496";
  private static final String MINUTE = "60000000";

  /** It has ended when the next request comes. */
  private static final String NO_TIME = "1";

  private static String attempt(
      RedisCommands<String, String> redis, String claim, String mode, String lease) {
    return ShortWayTest.said(redis, RedisScript.ATTEMPT.text(), KEYS, new String[] {
      claim, mode, NEVER, lease, "holder", MINUTE, MINUTE, "test:client:"
    });
  }

  /** Whoever has not been heard of for the lease of a waiter is passed over. */
  @Test
  void deadWaiter_isPassedOver() {
    try (RedisServer server = RedisServer.forgetful();
        StatefulRedisConnection<String, String> connection = server.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      assertThat(attempt(redis, "aa-0", "T", MINUTE)).startsWith("G");
      assertThat(attempt(redis, "aa-1", "Q", MINUTE)).isEqualTo("B");
      assertThat(attempt(redis, "aa-2", "Q", MINUTE)).isEqualTo("B");
      // it died long ago; the queue's keys live on, as they do while anybody refreshes them
      assertThat(redis.hset(KEYS[2], "aa-1", "1 " + MINUTE + " holder")).isFalse();
      assertThat(attempt(redis, "aa-0", "T", NO_TIME)).startsWith("G");
      assertThat(attempt(redis, "aa-2", "Q", MINUTE)).startsWith("G");
    }
  }

  /** Who comes to queue finds the lock free, and others before him: it goes to the first of them. */
  @Test
  void freeLock_goesToTheFirstInTheQueue_notToWhoComes() {
    try (RedisServer server = RedisServer.forgetful();
        StatefulRedisConnection<String, String> connection = server.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      assertThat(attempt(redis, "aa-0", "T", MINUTE)).startsWith("G");
      assertThat(attempt(redis, "aa-1", "Q", MINUTE)).isEqualTo("B");
      assertThat(attempt(redis, "aa-0", "T", NO_TIME)).startsWith("G");
      assertThat(attempt(redis, "aa-2", "Q", MINUTE)).isEqualTo("B");
      assertThat(attempt(redis, "aa-1", "Q", MINUTE)).startsWith("G");
    }
  }
}
