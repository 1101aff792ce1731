// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.lettuce.core.KillArgs;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Servers whose memory is used up: what is held is renewed, ended and handed over, and nothing new is granted. */
@Tag("stores")
class FullMemoryTest {
  private static final Duration LEASE = Duration.ofSeconds(6);
  private static final LockOptions OPTIONS =
      LockOptions.builder().leaseFor(LEASE).build();

  /** Two leases long. */
  private static final int RENEWALS = 6;

  private final ConcurrentHashMap<String, AtomicInteger> renewals = new ConcurrentHashMap<>();

  @Test
  void redis_keepsAndEndsWhatIsHeld() throws Exception {
    try (RedisServer server = RedisServer.forgetful()) {
      keepsAndEndsWhatIsHeld(() -> storeAt(server), List.of(server));
    }
  }

  @Test
  void redlock_keepsAndEndsWhatIsHeld() throws Exception {
    try (RedlockNodes nodes = new RedlockNodes(new RedlockRule(5, LEASE, Duration.ofMillis(500)))) {
      keepsAndEndsWhatIsHeld(
          nodes::store, IntStream.range(0, 5).mapToObj(nodes::server).toList());
    }
  }

  private void keepsAndEndsWhatIsHeld(Supplier<LockStore> store, List<RedisServer> servers)
      throws Exception {
    try (Holdfast client = client(store.get());
        Holdfast other = client(store.get())) {
      Hold hold = client.lock("held", OPTIONS).acquire();
      servers.forEach(FullMemoryTest::fill);
      awaitRenewals("held");
      servers.forEach(server ->
          server.call(redis -> redis.clientKill(KillArgs.Builder.typeNormal().skipme())));
      awaitRenewals("held");
      assertThat(hold.state()).isEqualTo(HoldState.HELD);
      assertFull(other.lock("fresh", OPTIONS));
      assertThat(hold.release()).isTrue();
      assertThat(client.admin().inspect("held")).isEmpty();
    }
  }

  /** The next one waits already: the release makes it the holder. */
  @Test
  void redis_handsOver() throws Exception {
    try (RedisServer server = RedisServer.forgetful();
        Holdfast client = client(storeAt(server));
        Holdfast other = client(storeAt(server))) {
      Hold hold = client.lock("wanted", OPTIONS).acquire();
      CompletableFuture<Hold> waiter = other.lock("wanted", OPTIONS).acquireAsync();
      Await.until(
          "it waits",
          () -> client.admin().inspect("wanted").orElseThrow().waiters().known() == 1);
      fill(server);
      // longer than a place in the queue lasts that is not refreshed
      awaitRenewals("wanted");
      assertThat(hold.release()).isTrue();
      Hold next = Await.value(waiter);
      assertThat(next.token()).isGreaterThan(hold.token());
      awaitRenewals("wanted");
      assertThat(next.release()).isTrue();
    }
  }

  private static LockStore storeAt(RedisServer server) {
    return RedisStore.at(StoreAddress.parse(server.uri()));
  }

  private static void fill(RedisServer server) {
    server.call(redis -> redis.configSet("maxmemory", "1"));
  }

  private Holdfast client(LockStore store) {
    return Holdfast.builder()
        .store(store)
        .listener(event -> {
          if (event instanceof LockEvent.Renewed renewed) {
            count(renewed.lockName()).incrementAndGet();
          }
        })
        .build();
  }

  private AtomicInteger count(String name) {
    return renewals.computeIfAbsent(name, absent -> new AtomicInteger());
  }

  private void awaitRenewals(String name) {
    int before = count(name).get();
    Await.until(name + " is renewed", () -> count(name).get() >= before + RENEWALS / 2);
  }

  private static void assertFull(DistributedLock lock) {
    assertThatThrownBy(() -> lock.tryAcquire().isPresent())
        .isInstanceOfSatisfying(
            StoreUnavailableException.class, e -> assertThat(e.reason()).isEqualTo(Reason.FULL));
  }
}
