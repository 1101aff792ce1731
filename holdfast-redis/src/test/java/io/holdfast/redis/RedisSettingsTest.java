// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.redis.RedisReplicas.Rule;
import io.holdfast.spi.StoreAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What settings may be, and that they say what an address says. */
class RedisSettingsTest {
  @Test
  void defaults_areThoseOfAnAddress() {
    assertThat(RedisSettings.builder().build()).isEqualTo(RedisSettings.defaults());
    assertThat(RedisOptions.of(RedisSettings.defaults()))
        .isEqualTo(RedisOptions.of(StoreAddress.parse("redis://localhost")));
  }

  @Test
  void allOfThem_areThoseOfAnAddress() {
    RedisSettings settings = RedisSettings.builder()
        .prefix("p:")
        .retention(Duration.ofDays(3))
        .replicas(2)
        .replicasTimeout(Duration.ofMillis(50))
        .build();
    assertThat(settings.toBuilder().build()).isEqualTo(settings);
    assertThat(RedisOptions.of(settings))
        .isEqualTo(RedisOptions.of(
            StoreAddress.parse("redis://localhost?holdfast.prefix=p:&holdfast.retention=3d"
                + "&holdfast.replicas=2&holdfast.replicas-timeout=50ms")));
  }

  @Test
  void limits_areAllowed() {
    RedisSettings least = RedisSettings.builder()
        .prefix("")
        .retention(Duration.ofMinutes(1))
        .replicas(0)
        .replicasTimeout(Duration.ofMillis(10))
        .build();
    RedisSettings most = least.toBuilder()
        .retention(Duration.ofDays(3660))
        .replicas(100)
        .replicasTimeout(Duration.ofMinutes(1))
        .build();
    assertThat(most.prefix()).isEqualTo(least.prefix()).isEmpty();
  }

  /** WAIT counts in milliseconds, and waits for ever for none of them. */
  @Test
  void replicas_haveHalfOfARequestsTime_andNeverNone() {
    Rule rule = new Rule(1, Duration.ofMillis(500));
    assertThat(rule.within(Duration.ofSeconds(2))).isEqualTo(rule);
    assertThat(rule.within(Duration.ofMillis(200)).limit()).isEqualTo(Duration.ofMillis(100));
    assertThat(rule.within(Duration.ofMillis(1)).limit()).isEqualTo(Duration.ofMillis(1));
  }

  /** The message names all that is wrong, with what was given and what may be. */
  @Test
  void whatIsOutOfRange_isNamedTogether() {
    assertThatThrownBy(() -> RedisSettings.builder()
            .prefix("a{b")
            .retention(Duration.ofSeconds(59))
            .replicas(101)
            .replicasTimeout(Duration.ofMillis(9))
            .build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(
            "prefix", "a{b", "retention", "59 s", "replicas must", "101", "not 9 ms", "10 ms");
    assertThatThrownBy(() -> RedisSettings.builder()
            .prefix("a}")
            .retention(Duration.ofDays(3661))
            .replicas(-1)
            .replicasTimeout(Duration.ofSeconds(61))
            .build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("a}", "3661 d", "-1", "1 min 1 s");
  }
}
