// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedlockAddressTest {
  private static RedlockAddress read(String text) {
    return new RedlockAddress(StoreAddress.parse(text));
  }

  @Test
  void address_withEverything() {
    RedlockAddress address = read("redlock://me:p%40ss+%25@a:7000,b,[::1]:7002/3"
        + "?holdfast.client-name=billing&holdfast.max-lease=5m&holdfast.connect-timeout=700ms");
    assertThat(address.nodes().stream().map(RedlockAddress::describe).toList())
        .isEqualTo(List.of("a:7000", "b:6379", "::1:7002"));
    for (RedisURI node : address.nodes()) {
      assertThat(node.getDatabase()).isEqualTo(3);
      assertThat(node.getClientName()).isEqualTo("billing");
    }
    assertThat(address.connectTimeout()).isEqualTo(Duration.ofMillis(700));
    assertThat(address.rule())
        .isEqualTo(new RedlockRule(3, Duration.ofMinutes(5), Duration.ofSeconds(10)));
  }

  /** A node abstains for the longest lease, twice the reach at least, and a little more. */
  @Test
  void rule_saysForHowLongANodeAbstains() {
    RedlockRule rule = read("redlock://a,b,c,d,e").rule();
    assertThat(rule.majority()).isEqualTo(3);
    assertThat(rule.maxLease()).isEqualTo(Duration.ofSeconds(60));
    assertThat(rule.abstains()).isEqualTo(Duration.ofMillis(60_610));
    assertThat(read("redlock://a,b,c?holdfast.max-lease=5s").rule().abstains())
        .isEqualTo(Duration.ofMillis(20_210));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redlock:a,b,c",
        "redlock://",
        "redlock://a",
        "redlock://a,b",
        "redlock://a,b,c,d",
        "redlock://a,b,",
        "redlock://a,b,a",
        "redlock://a,b,A:6379",
        "redlock://secret@a,b,c",
        "redlock://:sec%ret@a,b,c",
        "redlock://a,b,c:secret",
        "redlock://a,b,c?password=secret",
        "redlock://a,b,c?holdfast.secret=1",
        "redlock://a,b,c?holdfast.max-lease=0",
        "redlock://a,b,c?holdfast.tls-verify=none",
      })
  void address_thatMakesNoSense_isRefused(String text) {
    assertThatThrownBy(() -> read(text).rule())
        .isInstanceOf(ConfigurationException.class)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("sec%ret"));
  }

  /** The error says what is wrong with the number of nodes. */
  @Test
  void evenNumber_isExplained() {
    assertThatThrownBy(() -> read("redlock://a,b,c,d"))
        .hasMessageContaining("it names 4 nodes; Redlock needs an odd number");
    assertThatThrownBy(() -> read("redlock://a,b,b:6379"))
        .hasMessageContaining("b:6379 is named twice");
  }
}
