// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.StoreAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EtcdAddressTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "etcd://a",
        "etcd://a:2379,b:2380,[::1]:1/",
        "etcd://me:p%40ss+%25@a,b?holdfast.prefix=x/&holdfast.connect-timeout=1s",
        "etcds://a?holdfast.tls-authority=etcd.example"
      })
  void address_isRead(String text) {
    EtcdAddress address = new EtcdAddress(StoreAddress.parse(text));
    assertThat(address.settings().prefix()).isEqualTo(text.contains("x/") ? "x/" : "holdfast/");
    address.client().close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "etcd:a",
        "etcd://",
        "etcd://a,,b",
        "etcd://a:0",
        "etcd://a:70000",
        "etcd://a:secret",
        "etcd://secret@a",
        "etcd://secret:@a",
        "etcd://me:sec%ret@a",
        "etcd://a/path",
        "etcd://a?user=secret",
        "etcd://a?holdfast.prefx=x",
        "etcd://a?holdfast.prefix=a%09b",
        "etcd://a?holdfast.tls-ca=ca.pem",
        "etcd://a?holdfast.tls-authority=b",
        "etcds://a?holdfast.tls-cert=missing.pem",
        "etcds://a?holdfast.tls-ca=missing.pem"
      })
  void addressThatMakesNoSense_isRefused(String text) {
    assertThatThrownBy(() -> EtcdStore.at(StoreAddress.parse(text)))
        .isInstanceOf(ConfigurationException.class)
        .message()
        .isNotBlank()
        .doesNotContain("secret")
        .doesNotContain("sec%ret");
  }

  @Test
  void describe_showsNoPassword() {
    EtcdStore store = EtcdStore.at(StoreAddress.parse("etcd://me:secret@a:1,b:2"));
    assertThat(store.describe()).isEqualTo("etcd://a:1,b:2");
    store.close();
  }

  /** The mapping is part of the stored format: never changed. */
  @Test
  void keys_areGolden() {
    EtcdKeys keys = new EtcdKeys("holdfast/");
    LockKey name = LockKey.of("orders/\u00fc");
    ClaimId claim = new ClaimId("0123456789abcdef0123456789abcdef", 7);
    assertThat(keys.claim(name, claim).toString(StandardCharsets.UTF_8))
        .isEqualTo("holdfast/lock/orders/\u00fc\t0123456789abcdef0123456789abcdef-7");
    assertThat(keys.epoch(0x1f).toString(StandardCharsets.UTF_8)).isEqualTo("holdfast/epoch/1f");
    assertThat(keys.place(keys.claim(name, claim))).contains(new EtcdKeys.Place(name, claim));
    assertThat(keys.place(keys.epoch(1))).isEmpty();
    assertThat(keys.place(keys.queue(name))).isEmpty();
  }
}
