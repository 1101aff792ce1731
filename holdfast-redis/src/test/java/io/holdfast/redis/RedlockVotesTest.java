// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What one node says to requests that others have overtaken: of a claim's numbers, only the last one counts. */
@Tag("stores")
class RedlockVotesTest {
  private static final String MARKER = "holdfast:{}:m";
  private static final String RECORD = "holdfast:{x}";
  private static final String WAITERS = "holdfast:{x}:w";
  private static final String CLAIM = "aa-1";
  private static final String NEVER = "4503599627370496";
  private static final String MINUTE = "60000000";
  private static final String HOUR = "3600000000";

  /** A new node votes at once. */
  private static final String AT_ONCE = "0";

  private static long now(RedisCommands<String, String> redis) {
    List<String> clock = redis.time();
    return Long.parseLong(clock.get(0)) * 1_000_000 + Long.parseLong(clock.get(1));
  }

  private static String attempt(RedisCommands<String, String> redis, String claim, long number) {
    return ask(redis, RECORD, claim, number, "T");
  }

  private static String ask(
      RedisCommands<String, String> redis, String record, String claim, long number, String mode) {
    String[] keys = {MARKER, record, record + ":w"};
    return ShortWayTest.said(redis, RedisScript.REDLOCK_ATTEMPT.text(), keys, new String[] {
      HOUR, AT_ONCE, HOUR, HOUR, claim, "" + number, mode, NEVER, MINUTE, "holder", MINUTE
    });
  }

  private static String keep(
      RedisCommands<String, String> redis, String claim, long number, String lease) {
    String[] keys = {MARKER, RECORD, WAITERS};
    return ShortWayTest.said(redis, RedisScript.REDLOCK_KEEP.text(), keys, new String[] {
      HOUR, AT_ONCE, HOUR, claim, "" + number, lease
    });
  }

  private static String end(RedisCommands<String, String> redis, String claim, long number) {
    String[] keys = {RECORD, WAITERS};
    return ShortWayTest.said(redis, RedisScript.REDLOCK_END.text(), keys, new String[] {
      HOUR, "test:client:", claim, "" + number, "0"
    });
  }

  private static String evict(RedisCommands<String, String> redis, long number) {
    String[] keys = {RECORD, WAITERS};
    return ShortWayTest.said(redis, RedisScript.REDLOCK_EVICT.text(), keys, new String[] {
      HOUR, "test:client:", "" + number
    });
  }

  /** A renewal that was sent for an earlier number is no word for the later one: it changes nothing. */
  @Test
  void renewalOfAnEarlierNumber_isNotApplied() {
    try (RedisServer server = RedisServer.forgetful();
        StatefulRedisConnection<String, String> connection = server.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      long first = now(redis);
      assertThat(attempt(redis, CLAIM, first)).isEqualTo("A");
      assertThat(keep(redis, CLAIM, first, MINUTE)).isEqualTo("H 0");
      assertThat(attempt(redis, CLAIM, first + 1)).isEqualTo("A");
      String until = redis.hget(RECORD, "u");
      assertThat(keep(redis, CLAIM, first, HOUR)).isEqualTo("N");
      assertThat(redis.hget(RECORD, "u")).isEqualTo(until);
      assertThat(keep(redis, CLAIM, first + 1, HOUR)).isEqualTo("H 0");
      assertThat(redis.hget(RECORD, "u")).isNotEqualTo(until);
    }
  }

  /** The end comes before the attempt that it takes back: the attempt is refused, and so is all up to its number. */
  @Test
  void attemptThatComesAfterItsEnd_isRefused() {
    try (RedisServer server = RedisServer.forgetful();
        StatefulRedisConnection<String, String> connection = server.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      long number = now(redis);
      assertThat(end(redis, CLAIM, number)).isEqualTo("N");
      assertThat(attempt(redis, CLAIM, number)).isEqualTo("S");
      assertThat(attempt(redis, "aa-2", number - 1)).isEqualTo("S");
      assertThat(attempt(redis, "aa-2", number + 1)).isEqualTo("A");
    }
  }

  /** Who looked at one grant does not end the next one. */
  @Test
  void evictionOfAnEarlierGrant_leavesTheNext() {
    try (RedisServer server = RedisServer.forgetful();
        StatefulRedisConnection<String, String> connection = server.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      long first = now(redis);
      assertThat(attempt(redis, CLAIM, first)).isEqualTo("A");
      assertThat(end(redis, CLAIM, first)).isEqualTo("R");
      assertThat(attempt(redis, "aa-2", first + 1)).isEqualTo("A");
      assertThat(evict(redis, first)).isEqualTo("0");
      assertThat(keep(redis, "aa-2", first + 1, MINUTE)).isEqualTo("H 0");
      assertThat(evict(redis, first + 1)).isEqualTo("1");
      assertThat(keep(redis, "aa-2", first + 1, MINUTE)).isEqualTo("N");
    }
  }

  /** A waiter that comes before the one that was told to look: it waits no longer. */
  @Test
  void claimThatHasTheVote_waitsNoLonger() {
    try (RedisServer server = RedisServer.forgetful();
        StatefulRedisConnection<String, String> connection = server.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      long number = now(redis);
      assertThat(attempt(redis, CLAIM, number)).isEqualTo("A");
      assertThat(ask(redis, RECORD, "aa-2", number + 1, "Q")).isEqualTo("H");
      assertThat(ask(redis, RECORD, "aa-3", number + 2, "Q")).isEqualTo("H");
      assertThat(keep(redis, CLAIM, number, MINUTE)).isEqualTo("H 1");
      // tells the first of them, which is forgotten until it asks again
      assertThat(end(redis, CLAIM, number)).isEqualTo("R");
      assertThat(attempt(redis, "aa-3", number + 3)).isEqualTo("A");
      assertThat(keep(redis, "aa-3", number + 3, MINUTE)).isEqualTo("H 0");
    }
  }

  /** A key of another type where the waiters should be: an attempt leaves no vote, an end frees, and the others are renewed. */
  @Test
  void waitersOfAnotherType_areTheTroubleOfOneLock() {
    try (RedisServer server = RedisServer.forgetful();
        StatefulRedisConnection<String, String> connection = server.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      long number = now(redis);
      redis.set(WAITERS, "another program's");
      assertThat(attempt(redis, CLAIM, number)).contains("WRONGTYPE");
      assertThat(redis.exists(RECORD)).isZero();
      redis.del(WAITERS);
      assertThat(attempt(redis, CLAIM, number)).isEqualTo("A");
      redis.set(WAITERS, "another program's");
      String other = "holdfast:{y}";
      assertThat(ask(redis, other, "aa-2", number, "T")).isEqualTo("A");
      List<Object> kept = redis.eval(
          RedisScript.REDLOCK_KEEP.text(),
          ScriptOutputType.MULTI,
          new String[] {MARKER, RECORD, WAITERS, other, other + ":w"},
          HOUR,
          AT_ONCE,
          HOUR,
          CLAIM,
          "" + number,
          MINUTE,
          "aa-2",
          "" + number,
          MINUTE);
      assertThat(kept).element(1).isEqualTo("U");
      assertThat(kept).element(2).isEqualTo("H 0");
      assertThat(end(redis, CLAIM, number)).contains("WRONGTYPE");
      assertThat(redis.hget(RECORD, "c")).isEmpty();
    }
  }
}
