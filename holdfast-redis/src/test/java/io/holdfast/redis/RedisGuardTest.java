// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StaleTokenException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.WriteUnknownException;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.process.LazyServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The guard for values in Redis: older tokens are refused, whatever their size; every way to return is met once. */
@Tag("stores")
@Tag("oldest")
class RedisGuardTest {
  /** Above what a double tells apart. */
  private static final long BIG = (1L << 53) + 10;

  @RegisterExtension
  static final LazyServer<RedisServer> SERVER = new LazyServer<>(RedisServer::forgetful);

  @SuppressWarnings("NullAway.Init")
  private RedisClient client;

  @SuppressWarnings("NullAway.Init")
  private RedisGuard guard;

  @BeforeEach
  void connect() {
    SERVER.get().call(redis -> redis.flushall());
    client = RedisClient.create(SERVER.get().uri());
    client.setOptions(ClientOptions.builder().autoReconnect(false).build());
    guard = RedisGuard.using(client);
  }

  @AfterEach
  void disconnect() {
    guard.close();
    Direct.close(client);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String value(String key) {
    String found = SERVER.get().call(redis -> redis.get(key));
    return String.valueOf(found);
  }

  /** Newer and equal tokens write, older ones do not, and change nothing. */
  @Test
  void write_refusesOlderTokens() throws Exception {
    guard.write("x", bytes("one"), 5);
    guard.write("x", bytes("two"), 5);
    assertThat(value("x")).isEqualTo("two");
    guard.write("x", bytes("three"), 7);
    assertThatThrownBy(() -> guard.write("x", bytes("late"), 6))
        .isInstanceOfSatisfying(StaleTokenException.class, e -> {
          assertThat(e.token()).isEqualTo(6);
          assertThat(e.newest()).isEqualTo(7);
          assertThat(e.getMessage()).contains("\"x\"");
        });
    assertThat(value("x")).isEqualTo("three");
    assertThat(value("{x}:token")).isEqualTo("1:0000000000000000007");
    guard.write("y", bytes("another key"), 1);
  }

  /** Tokens that are one number as doubles are told apart: they differ in the last digit, or at the halves' seam. */
  @ParameterizedTest
  @CsvSource({
    "9007199254740993, 9007199254740992",
    "9007199254740995, 9007199254740994",
    "459591645609020673, 459591645609020672",
    "9223372036854775807, 9223372036854775806",
    "1000000000, 999999999",
    "2000000000, 1999999999",
    "10000000000, 9999999999",
    "1000000000000000001, 999999999999999999",
    "100, 99",
  })
  void write_comparesEveryDigit(long newer, long older) throws Exception {
    guard.write("x", bytes("new"), newer);
    assertThatThrownBy(() -> guard.write("x", bytes("old"), older))
        .isInstanceOfSatisfying(
            StaleTokenException.class, e -> assertThat(e.newest()).isEqualTo(newer));
    assertThat(value("x")).isEqualTo("new");
    guard.write("y", bytes("old"), older);
    guard.write("y", bytes("new"), newer);
    assertThat(value("y")).isEqualTo("new");
  }

  /** Many writers with many tokens at once: what stays is what the greatest token wrote. */
  @Test
  void write_fromManyAtOnce_keepsTheNewest() {
    List<CompletableFuture<?>> writes = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      long token = BIG + i * 37 % 200;
      writes.add(guard.writeAsync("x", bytes(Long.toString(token)), token).handle((v, e) -> 0));
    }
    writes.forEach(Await::value);
    assertThat(value("x")).isEqualTo(Long.toString(BIG + 199));
  }

  /** A server that has forgotten its scripts, as after a restart, is not asked for this one by name: that comes too late. */
  @Test
  void writes_thatAreNotWaitedFor_keepTheirOrder() {
    try (RedisStore store = RedisStore.using(client);
        Holdfast locks = Holdfast.builder().store(store).build()) {
      assertThat(locks.admin().inspect("x")).isEmpty();
      SERVER.get().call(redis -> redis.scriptFlush());
      SERVER.get().call(redis -> redis.configResetstat());
      for (RedisGuard each : List.of(guard, store.guard())) {
        List<CompletableFuture<?>> writes = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
          writes.add(each.writeAsync("x", bytes(Integer.toString(i)), 5));
        }
        writes.forEach(Await::value);
        assertThat(value("x")).isEqualTo("999");
      }
    }
    String calls = SERVER.get().call(redis -> redis.info("commandstats"));
    assertThat(calls).contains("cmdstat_eval:calls=2000,").doesNotContain("cmdstat_evalsha");
  }

  /** What it is for: a holder that lost its lock without noticing cannot overwrite what the next one wrote. */
  @Test
  void write_underALostHold_isRefused() throws Exception {
    LockOptions options = LockOptions.builder().leaseFor(Duration.ofMinutes(1)).build();
    try (Holdfast one = Clients.connect(SERVER.get().uri());
        Holdfast other = Clients.connect(SERVER.get().uri())) {
      Hold late = one.lock("stock", options).acquire();
      assertThat(other.admin().forceRelease(other.admin().inspect("stock").orElseThrow()))
          .isTrue();
      try (Hold next = other.lock("stock", options).acquire()) {
        guard.write("stock", bytes("theirs"), next.token());
        assertThat(late.isValid()).isTrue();
        assertThatThrownBy(() -> guard.write("stock", bytes("late"), late.token()))
            .isInstanceOf(StaleTokenException.class);
      }
    }
    assertThat(value("stock")).isEqualTo("theirs");
  }

  /** A key's token cannot be kept elsewhere than the key, in a cluster: what would be is refused before any I/O. */
  @ParameterizedTest
  @ValueSource(strings = {"x", "a:b", "{x}", "a{x}b", "{{x}", "a{x}{y}", "a{b", "ä€"})
  void tokenKey_isInTheSameSlot(String key) {
    assertThat(ClusterMap.slot(RedisGuard.tokenKey(bytes(key))))
        .isEqualTo(ClusterMap.slot(bytes(key)));
  }

  @Test
  void badArguments_areRefused() {
    for (String key : new String[] {"", "a}b", "{}", "{}a", "}"}) {
      assertThatThrownBy(() -> guard.write(key, bytes(""), 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
    for (long token : new long[] {0, -1, Long.MIN_VALUE}) {
      assertThatThrownBy(() -> guard.write("x", bytes(""), token))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  /** Somebody else's value at the token's key is refused, and left as it is. */
  @Test
  void foreignToken_isLeftAlone() {
    for (String foreign : new String[] {"7", "2:0000000000000000007", "1:000000000000000000x"}) {
      SERVER.get().call(redis -> redis.set("{x}:token", foreign));
      assertThatThrownBy(() -> guard.write("x", bytes("new"), BIG))
          .isInstanceOfSatisfying(
              StoreUnavailableException.class,
              e -> assertThat(e.reason()).isEqualTo(Reason.DAMAGED));
      assertThat(value("{x}:token")).isEqualTo(foreign);
      assertThat(value("x")).isEqualTo("null");
    }
  }

  /** A server that answers nothing: nobody knows; the same write can be repeated. */
  @Test
  void noAnswer_isUnknown() throws Exception {
    guard.write("x", bytes("old"), 1);
    SERVER.get().pause();
    try {
      assertThatThrownBy(() -> guard.write("x", bytes("new"), 2))
          .isInstanceOf(WriteUnknownException.class);
    } finally {
      SERVER.get().resume();
    }
    guard.write("x", bytes("new"), 2);
    assertThat(value("x")).isEqualTo("new");
  }

  /** A server that is not there: told when the guard is made. */
  @Test
  void noServer_isUnavailable() {
    RedisClient lost = RedisClient.create("redis://127.0.0.1:1");
    try {
      assertThatThrownBy(() -> RedisGuard.using(lost).close())
          .isInstanceOfSatisfying(
              StoreUnavailableException.class,
              e -> assertThat(e.reason()).isEqualTo(Reason.UNREACHABLE));
    } finally {
      Direct.close(lost);
    }
  }

  /** The script was thrown out of the server's memory: it is sent again. */
  @Test
  void scriptFlush_isNotNoticed() throws Exception {
    guard.write("x", bytes("one"), 1);
    SERVER.get().call(redis -> redis.scriptFlush());
    guard.write("x", bytes("two"), 2);
    assertThat(value("x")).isEqualTo("two");
  }

  /** On a connection of the application, which stays open, and on the connections of a store. */
  @Test
  void otherConnections_doToo() throws Exception {
    try (var connection = client.connect(ByteArrayCodec.INSTANCE)) {
      RedisGuard given = RedisGuard.on(connection.async());
      given.write("x", bytes("given"), 1);
      given.close();
      assertThat(connection.isOpen()).isTrue();
    }
    RecordingStart start = new RecordingStart();
    try (RedisStore store = RedisStore.at(StoreAddress.parse(SERVER.get().uri()))) {
      store.start(start.runtime(), start);
      Await.until(
          "the store is connected",
          () ->
              store.connect().toCompletableFuture().handle((v, e) -> e == null).join());
      store.guard().write("x", bytes("store"), 2);
      assertThatThrownBy(() -> guard.write("x", bytes("late"), 1))
          .isInstanceOf(StaleTokenException.class);
    }
  }

  /** In a cluster: both keys at one node, whatever the name; and on the connections of a store. */
  @Test
  void cluster_keepsBothTogether() throws Exception {
    try (ClusterServers servers = new ClusterServers(Duration.ofMinutes(1))) {
      RedisClusterClient cluster = RedisClusterClient.create(
          "redis://127.0.0.1:" + servers.servers().get(0).port());
      try (RedisGuard clustered = RedisGuard.using(cluster)) {
        for (int i = 0; i < 50; i++) {
          String key = i % 2 == 0 ? "x" + i : "a{x" + i + "}";
          clustered.write(key, bytes("new"), BIG + 1);
          assertThatThrownBy(() -> clustered.write(key, bytes("old"), BIG))
              .isInstanceOf(StaleTokenException.class);
        }
      } finally {
        Direct.close(cluster);
      }
    }
  }
}
