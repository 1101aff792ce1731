// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.RedisAcl.Version;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The line of permissions has no word that the server does not know: it would refuse all of it. */
class RedisAclTest {
  private static final RedisOptions OPTIONS = RedisOptions.of(RedisSettings.defaults());

  private static Version version(String text) {
    return Version.of(Map.of("redis_version", text));
  }

  @ParameterizedTest
  @CsvSource({
    "5.0.14, false, false, false",
    "6.0.20, true, false, false",
    "6.2.14, true, true, false",
    "7.0.0, true, true, true",
    "7.0.15, true, true, true",
    "10.1.2, true, true, true",
    "unstable, true, true, true",
  })
  void line_fitsTheVersion(String text, boolean users, boolean channels, boolean shards) {
    String line = RedisAcl.cluster(version(text), OPTIONS);
    assertThat(line.contains("ACL SETUSER")).isEqualTo(users);
    assertThat(line.contains(" resetchannels &holdfast:client:* ")).isEqualTo(channels);
    assertThat(line.contains(" +ssubscribe +sunsubscribe +spublish")).isEqualTo(shards);
    assertThat(line.contains(" +cluster|slots ")).isEqualTo(users);
  }

  @Test
  void line_hasWhatTheTopologyNeeds() {
    Version newest = version("8.2.1");
    assertThat(RedisAcl.single(newest, OPTIONS)).doesNotContain("ssubscribe", "cluster", "+wait");
    assertThat(RedisAcl.redlock(newest, OPTIONS))
        .contains("+zremrangebyscore")
        .doesNotContain("ssubscribe", "cluster", "+wait");
    RedisOptions others =
        RedisOptions.of(RedisSettings.builder().prefix("mine:").replicas(1).build());
    assertThat(RedisAcl.single(newest, others)).contains("~mine:* ", "&mine:client:* ", " +wait");
  }

  @Test
  void version_isComparedByNumber() {
    assertThat(version("6.10.0")).isGreaterThan(version("6.2.0"));
    assertThat(version("10.0.0")).isGreaterThan(version("7.4.0"));
    assertThat(version("").isKnown()).isFalse();
    assertThat(version("7").isKnown()).isFalse();
    assertThat(version("7.2.4").isKnown()).isTrue();
  }
}
