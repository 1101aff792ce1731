// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslVerifyMode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisAddressTest {
  private static RedisURI uri(String text) {
    return new RedisAddress(StoreAddress.parse(text)).uri();
  }

  @Test
  void address_withEverything() {
    RedisURI uri = uri("redis://me:p%40ss+%25@db_1:7000/3?holdfast.client-name=billing");
    assertThat(uri.getHost()).isEqualTo("db_1");
    assertThat(uri.getPort()).isEqualTo(7000);
    assertThat(uri.getDatabase()).isEqualTo(3);
    assertThat(uri.getClientName()).isEqualTo("billing");
    assertThat(uri.isSsl()).isFalse();
  }

  @Test
  void address_withLittle() {
    RedisURI uri = uri("redis://[::1]");
    assertThat(uri.getHost()).isEqualTo("::1");
    assertThat(uri.getPort()).isEqualTo(6379);
    assertThat(uri.getDatabase()).isZero();
    assertThat(uri("rediss://a:6380/").isSsl()).isTrue();
  }

  @Test
  void address_ofSentinels() {
    RedisURI uri = uri("redis-sentinel://me:p%40ss@a,[::1]:7000/the%20one/3"
        + "?holdfast.sentinel-password=guess&holdfast.sentinel-user=asks");
    assertThat(uri.getSentinelMasterId()).isEqualTo("the one");
    assertThat(uri.getDatabase()).isEqualTo(3);
    assertThat(uri.getSentinels()).extracting(RedisURI::getHost).containsExactly("a", "::1");
    assertThat(uri.getSentinels()).extracting(RedisURI::getPort).containsExactly(26379, 7000);
  }

  @Test
  void address_ofACluster() {
    List<RedisURI> uris =
        new RedisAddress(StoreAddress.parse("redis-cluster://me:secret@a,[::1]:7000/")).uris();
    assertThat(uris).extracting(RedisURI::getHost).containsExactly("a", "::1");
    assertThat(uris).extracting(RedisURI::getPort).containsExactly(6379, 7000);
  }

  /** A driver that has to wait for them may hand out a connection before it can be used. */
  @Test
  void login_isKnownWithoutWaiting() {
    RedisURI one = uri("redis://me:p%40ss@a");
    assertThat(login(one)).isEqualTo("me p@ss");
    RedisURI sentinels = uri(
        "redis-sentinel://:secret@a/x?holdfast.sentinel-password=guess&holdfast.sentinel-user=asks");
    assertThat(login(sentinels)).isEqualTo("null secret");
    assertThat(sentinels.getSentinels())
        .extracting(RedisAddressTest::login)
        .containsExactly("asks guess");
    assertThat(new RedisAddress(StoreAddress.parse("redis-cluster://me:secret@a,b")).uris())
        .extracting(RedisAddressTest::login)
        .containsOnly("me secret");
    assertThat(new RedlockAddress(StoreAddress.parse("redlock://me:secret@a,b,c")).nodes())
        .extracting(RedisAddressTest::login)
        .containsOnly("me secret");
  }

  private static String login(RedisURI of) {
    assertThat(of.getCredentialsProvider()).isInstanceOf(ImmediateRedisCredentialsProvider.class);
    RedisCredentials login =
        ((ImmediateRedisCredentialsProvider) of.getCredentialsProvider()).resolveCredentialsNow();
    return login.getUsername() + " " + new String(login.getPassword());
  }

  /** One word means TLS with all servers: the sentinels, the nodes of a cluster, those of Redlock. */
  @Test
  void address_withTls() {
    RedisURI sentinels = uri("redis-sentinel://a,b/x?holdfast.tls=true&holdfast.tls-verify=ca");
    assertThat(sentinels.isSsl()).isTrue();
    assertThat(sentinels.getSentinels())
        .allMatch(each -> each.isSsl() && each.getVerifyMode() == SslVerifyMode.CA);
    assertThat(new RedisAddress(StoreAddress.parse("redis-cluster://a,b?holdfast.tls=true")).uris())
        .allMatch(each -> each.isSsl() && each.getVerifyMode() == SslVerifyMode.FULL);
    RedlockAddress redlock = new RedlockAddress(
        StoreAddress.parse("redlock://a,b,c?holdfast.tls=true&holdfast.tls-verify=none"));
    assertThat(redlock.nodes())
        .allMatch(each -> each.isSsl() && each.getVerifyMode() == SslVerifyMode.NONE);
    assertThat(uri("redis-sentinel://a/x?holdfast.tls=false").isSsl()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis-cluster://a,b/1",
        "redis-cluster://a,,b",
        "redis-cluster://a?holdfast.tls-ca=/no/such/file",
        "redis-cluster://a?holdfast.tls=true&holdfast.tls-ca=/no/such/file",
        "redis-cluster://a?holdfast.tls=yes",
        "redis-cluster://a?holdfast.tls-verify=ca",
        "redis-sentinel://a/x?holdfast.tls=true&holdfast.tls-verify=secret",
        "redis-sentinel://a/x?holdfast.tls-verify=ca",
        "redlock://a,b,c?holdfast.tls=secret",
        "redlock://a,b,c?holdfast.tls-verify=ca",
        "redlock://a,b,c?holdfast.tls=true&holdfast.tls-cert=/no/such/file",
        "redis://a?holdfast.tls=true",
        "redis://a?holdfast.replicas=many",
        "redis://a?holdfast.replicas=1&holdfast.replicas-timeout=1ms",
        "redlock://a,b,c?holdfast.replicas=1",
        "redis-sentinel://a,b",
        "redis-sentinel://a,b/",
        "redis-sentinel://a,,b/x",
        "redis-sentinel://a/x/y",
        "redis-sentinel://a/x?holdfast.tls-ca=/no/such/file",
        "redis-sentinel://a/x?holdfast.sentinel-user=secret",
        "redis-sentinel://a:secret/x",
        "redis://a?holdfast.sentinel-password=secret",
        "redis:localhost",
        "redis://",
        "redis://:secret@",
        "redis://a,b",
        "redis://a:secret",
        "redis://a:70000",
        "redis://a/x",
        "redis://secret@a",
        "redis://:sec%ret@a",
        "redis://a?password=secret",
        "redis://a?holdfast.secret=1",
        "redis://a?holdfast.retention=1s",
        "redis://a?holdfast.prefix={x",
        "redis://a?holdfast.tls-verify=none",
        "rediss://a?holdfast.tls-verify=secret",
        "rediss://a?holdfast.tls-ca=/no/such/file",
        "rediss://a?holdfast.client-name=",
      })
  void address_thatMakesNoSense_isRefused(String text) {
    assertThatThrownBy(() -> new RedisStoreFactory().open(StoreAddress.parse(text)))
        .isInstanceOf(ConfigurationException.class)
        .message()
        .doesNotContain("sec%ret", "=secret", ":secret");
  }

  /** What people see has no password. */
  @Test
  void describe_hidesTheSecret() {
    try (var store =
        RedisStore.at(StoreAddress.parse("redis://me:secret@a:1/2?holdfast.retention=7d"))) {
      assertThat(store.describe()).isEqualTo("redis://a:1/2");
    }
  }

  @Test
  void options_areRead() {
    RedisOptions options =
        RedisOptions.of(StoreAddress.parse("redis://a?holdfast.retention=7d&holdfast.prefix=x:"));
    assertThat(options)
        .isEqualTo(new RedisOptions("x:", Duration.ofDays(7), RedisReplicas.Rule.NONE));
  }
}
