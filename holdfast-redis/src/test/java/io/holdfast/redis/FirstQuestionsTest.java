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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is asked on a connection before it is used. */
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

  /** As on a 32-bit server, where what does not fit a C long comes out as its greatest. */
  @Test
  void serverThatPacksNoLongNumbers_isRefused() {
    String narrow = """
        local struct = {
          pack = function() return string.rep('x', 34) end,
          unpack = function() return 2, 1, 2147483647, 2147483647, 2147483647, 2147483647, 35 end,
        }
        """;
    String[] keys = {"{}", "{}:q", "{}:w"};
    assertThatThrownBy(() -> REDIS
            .redis()
            .eval(narrow + RedisScript.CHECK.text(), ScriptOutputType.MULTI, keys, "test:"))
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
