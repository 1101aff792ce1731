// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ConfigurationException;
import io.holdfast.Guarantees;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.StoreAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsulAddressTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "consul://a",
        "consul://a:8500,b:8501,[::1]:1/",
        "consul://:p%40ss+%25@a,b?holdfast.prefix=x/y/&holdfast.connect-timeout=1s",
        "consul://a?holdfast.datacenter=dc2&holdfast.namespace=n&holdfast.partition=p",
        "consuls://a?holdfast.lock-delay=0s"
      })
  void address_isRead(String text) {
    ConsulAddress address = new ConsulAddress(StoreAddress.parse(text));
    assertThat(address.settings().prefix()).isEqualTo(text.contains("x/") ? "x/y/" : "holdfast/");
    assertThat(address.token())
        .isEqualTo(text.contains("ss") && text.contains("@") ? "p@ss+%" : "");
    assertThat(address.agents().get(0).getPort())
        .isEqualTo(text.startsWith("consuls") ? 8501 : 8500);
    assertThat(address.parameters())
        .isEqualTo(text.contains("dc2") ? "&dc=dc2&ns=n&partition=p" : "");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "consul:a",
        "consul://",
        "consul://a,,b",
        "consul://a:0",
        "consul://a:70000",
        "consul://a:secret",
        "consul://secret@a",
        "consul://:@a",
        "consul://:sec%ret@a",
        "consul://:secret%0Ab@a",
        "consul://:secret%C4%80@a",
        "consul://:secret@a?holdfast.token-file=pom.xml",
        "consul://a?holdfast.token-file=missing",
        "consul://a/path",
        "consul://a?token=secret",
        "consul://a?holdfast.prefx=x",
        "consul://a?holdfast.prefix=/x",
        "consul://a?holdfast.prefix=a/../b",
        "consul://a?holdfast.prefix=a%20b",
        "consul://a?holdfast.lock-delay=61s",
        "consul://a?holdfast.session-ttl-min=500ms",
        "consul://a?holdfast.tls-ca=pom.xml",
        "consuls://a?holdfast.tls-cert=pom.xml",
        "consuls://a?holdfast.tls-ca=missing.pem",
        "consuls://a?holdfast.tls-ca=pom.xml"
      })
  void addressThatMakesNoSense_isRefused(String text) {
    assertThatThrownBy(() -> ConsulStore.at(StoreAddress.parse(text)))
        .isInstanceOf(ConfigurationException.class)
        .message()
        .isNotBlank()
        .doesNotContain("secret")
        .doesNotContain("sec%ret");
  }

  /** The HTTP client would refuse it, and show it. */
  @Test
  void tokenFileOfTwoLines_isRefused_andNotShown(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("token");
    Files.writeString(file, "secret\nline2\n");
    StoreAddress address = StoreAddress.parse("consul://a?holdfast.token-file=" + file);
    assertThatThrownBy(() -> new ConsulAddress(address))
        .isInstanceOf(ConfigurationException.class)
        .message()
        .contains("the token")
        .doesNotContain("secret");
  }

  /** The server takes the namespace of what is in a transaction from there alone. */
  @Test
  void namespace_isInEachOperation() {
    ConsulTxn txn = new ConsulTxn().isMissing("a").lock("a", "s", "v");
    assertThat(txn.write("n", "p").split("\"Namespace\":\"n\",\"Partition\":\"p\"", -1))
        .hasSize(3);
    assertThat(txn.write()).doesNotContain("Namespace").doesNotContain("Partition");
  }

  @Test
  void describe_showsNoToken() {
    try (ConsulStore store = ConsulStore.at(StoreAddress.parse("consul://:secret@a:1,b:2"))) {
      assertThat(store.describe()).isEqualTo("consul://a:1,b:2");
    }
  }

  /** What Consul allows unless it is told otherwise. */
  @Test
  void guarantees_haveConsulsLimits() {
    try (ConsulStore store = ConsulStore.at(StoreAddress.parse("consul://a"))) {
      Guarantees guarantees = store.guarantees();
      assertThat(guarantees.shortestLease()).isEqualTo(Duration.ofSeconds(10));
      assertThat(guarantees.longestLease()).isEqualTo(Duration.ofHours(24));
      assertThat(guarantees.longestHoldAtLeast()).isEqualTo(Duration.ofHours(24));
      assertThat(guarantees.exceptions()).anyMatch(each -> each.contains("15 s"));
    }
  }

  /** The mapping is part of the stored format: never changed. */
  @Test
  void keys_areGolden() {
    ConsulKeys keys = new ConsulKeys("holdfast/");
    assertThat(keys.lock(LockKey.of("orders:42"))).isEqualTo("holdfast/lock:orders:42");
    assertThat(keys.lock(LockKey.of(".."))).isEqualTo("holdfast/lock:..");
    assertThat(keys.lock(LockKey.of("a/b")))
        .isEqualTo("holdfast/lock:" + LockKey.of("a/b").fit(128))
        .matches("holdfast/lock:a_b~[0-9a-f]{32}");
    assertThat(keys.wanted(LockKey.of("job"))).isEqualTo("holdfast/wanted:job");
    assertThat(keys.epoch("1f")).isEqualTo("holdfast/epoch:1f");
  }

  /** An index that goes back, or is none, is not trusted: the next query is answered at once. */
  @Test
  void index_thatGoesBack_beginsAnew() {
    assertThat(ConsulWait.next(7, 9)).isEqualTo(9);
    assertThat(ConsulWait.next(7, 7)).isEqualTo(7);
    assertThat(ConsulWait.next(7, 6)).isZero();
    assertThat(ConsulWait.next(0, 0)).isZero();
    assertThat(ConsulWait.next(0, 1)).isEqualTo(1);
  }
}
