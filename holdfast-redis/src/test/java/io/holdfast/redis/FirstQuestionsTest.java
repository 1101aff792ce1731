// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ConfigurationException;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.testkit.Await;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is asked on a connection before it is used. */
@Tag("stores")
class FirstQuestionsTest {
  @RegisterExtension
  static final ProxiedRedis REDIS = new ProxiedRedis();

  /** A server that takes the connection and then says nothing: the next connection is opened all the same. */
  @ParameterizedTest
  @ValueSource(strings = {"check", "subscribe"})
  void firstQuestion_thatIsNotAnswered_isGivenUp(String question) throws Exception {
    Holdfast client = REDIS.through();
    REDIS.proxy().next(question, Fate.SILENCE);
    int before = REDIS.proxy().count(question);
    REDIS.proxy().cut();
    REDIS.proxy().mend();
    Await.until("it is asked again", () -> REDIS.proxy().count(question) >= before + 2);
    Hold hold = client.lock("x", ProxiedRedis.LONG).acquire(Duration.ofSeconds(20));
    assertThat(hold.release()).isTrue();
  }

  /** A connection whose first question was not answered is closed: else each of them would stay. */
  @Test
  void connectionThatIsGivenUp_isClosed() throws Exception {
    Holdfast client = REDIS.through();
    int links = REDIS.proxy().links();
    for (int i = 0; i < 2; i++) {
      REDIS.proxy().next("check", Fate.SILENCE);
    }
    int before = REDIS.proxy().count("check");
    REDIS.proxy().cut();
    REDIS.proxy().mend();
    Await.until("it is asked a third time", () -> REDIS.proxy().count("check") >= before + 3);
    Hold hold = client.lock("x", ProxiedRedis.LONG).acquire(Duration.ofSeconds(20));
    assertThat(hold.release()).isTrue();
    Await.until("as many connections as before", () -> REDIS.proxy().links() == links);
  }

  /** A server that keeps no numbers of 64 bits, by one of them: each is looked at. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        // as on a 32-bit server, where what does not fit a C long comes out as its greatest
        "2, 1, 2147483647, 2147483647, 2147483647, 2147483647, 35",
        "2, 0, LAST, LAST - 1, LAST - 2, LAST - 3, 35",
        "2, 1, 2147483647, LAST - 1, LAST - 2, LAST - 3, 35",
        "2, 1, LAST, 2147483647, LAST - 2, LAST - 3, 35",
        "2, 1, LAST, LAST - 1, 2147483647, LAST - 3, 35",
        "2, 1, LAST, LAST - 1, LAST - 2, 2147483647, 35",
      })
  void serverThatPacksNoLongNumbers_isRefused(String unpacked) {
    assertRefused("""
        local LAST = 9007199254740991
        local struct = {
          pack = function() return string.rep('x', 34) end,
          unpack = function() return %s end,
        }
        """.formatted(unpacked));
  }

  /** A server whose numbers have another size, and one that has nothing to pack them with. */
  @ParameterizedTest
  @ValueSource(strings = {"""
        local packs = struct
        local struct = {
          pack = function(...) return packs.pack(...) .. 'x' end,
          unpack = packs.unpack,
        }
        """, "local struct = nil\n"})
  void serverThatPacksNoRecords_isRefused(String otherwise) {
    assertRefused(otherwise);
  }

  /** A server before 7.0 takes the line that says what the script may do for Lua. */
  @Test
  void serverThatIsTooOld_isRefused() {
    String[] keys = {"{}", "{}:q", "{}:w"};
    String script = "\n" + RedisScript.CHECK.text();
    assertThatThrownBy(() -> REDIS.redis().eval(script, ScriptOutputType.MULTI, keys, "test:"))
        .isInstanceOfSatisfying(
            RedisCommandExecutionException.class,
            refused -> assertThat(RedisErrors.of("test", refused))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("7.0"));
  }

  private static void assertRefused(String otherwise) {
    String[] keys = {"{}", "{}:q", "{}:w"};
    String script = ShortWayTest.afterTheFirstLine(RedisScript.CHECK.text(), otherwise);
    assertThatThrownBy(() -> REDIS.redis().eval(script, ScriptOutputType.MULTI, keys, "test:"))
        .isInstanceOfSatisfying(
            RedisCommandExecutionException.class,
            refused -> assertThat(RedisErrors.of("test", refused))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("64 bits"));
    assertThat(REDIS
            .redis()
            .<Object>eval(RedisScript.CHECK.text(), ScriptOutputType.MULTI, keys, "test:"))
        .isNotNull();
  }
}
