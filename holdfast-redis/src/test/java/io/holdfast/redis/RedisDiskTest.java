// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A real server whose disk is full. With {@code appendfsync everysec} it refuses to write ({@code MISCONF}); with {@code
 * always} it ends, since it could not take back what it has answered.
 */
@Tag("all")
class RedisDiskTest {
  private static final LockOptions MIDDLING =
      LockOptions.builder().leaseFor(Duration.ofSeconds(12)).build();

  private static final LockOptions BRIEF =
      LockOptions.builder().leaseFor(Duration.ofMillis(1500)).build();

  /** Brief, and long enough to last until the disk is full. */
  private static final LockOptions SHORT =
      LockOptions.builder().leaseFor(Duration.ofSeconds(6)).build();

  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(1)).build();

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private RedisServer server(String fsync) {
    RedisServer server =
        RedisServer.onASmallDisk("512k", "--appendonly", "yes", "--appendfsync", fsync);
    open.add(server);
    return server;
  }

  private Holdfast client(RedisServer server) {
    Holdfast client = Holdfast.connect(server.uri());
    open.add(client);
    return client;
  }

  /** Fills the disk, and writes until the server has noticed. */
  private static void fill(RedisServer server) {
    server.fillDisk();
    Await.until("the server writes no more", () -> {
      try {
        server.call(redis -> redis.set("any", "x".repeat(500)));
        return false;
      } catch (RedisException e) {
        return true;
      }
    });
  }

  private static void awaitWaiter(RedisServer server) {
    Await.until("one waits", () -> server.call(redis -> redis.zcard("holdfast:{busy}:q")) == 1);
  }

  @Test
  @MayWarn("the store did not confirm its end")
  @Warns("lock=brief .*hold lost")
  void serverThatRefuses_isFull_untilThereIsRoom() throws Exception {
    RedisServer server = server("everysec");
    Holdfast client = client(server);
    DistributedLock lock = client.lock("x", LONG);
    Hold busy = client(server).lock("busy", LONG).acquire();
    CompletableFuture<Hold> waiter = client.lock("busy", LONG).acquireAsync(Duration.ofSeconds(15));
    awaitWaiter(server);
    Hold ends = client.lock("brief", BRIEF).acquire();
    Hold goesOn = client.lock("goes on", MIDDLING).acquire();
    fill(server);
    assertThatThrownBy(() -> lock.tryAcquire().isPresent())
        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
          assertThat(e.reason()).isEqualTo(Reason.FULL);
          assertThat(e.getMessage()).contains("MISCONF");
        });
    Await.until("the loss is told", () -> ends.state() == HoldState.LOST);
    assertThat(Await.failure(waiter))
        .isInstanceOf(HoldfastException.class)
        .hasStackTraceContaining("MISCONF");
    Await.until("the hold is at risk", () -> goesOn.state() == HoldState.AT_RISK);
    server.makeRoomOnDisk();
    Await.until("the hold is held again", () -> goesOn.state() == HoldState.HELD);
    assertThat(goesOn.release()).isTrue();
    assertNothingIsLeft(server, client, ends);
    assertThat(busy.release()).isTrue();
    assertThat(client.lock("busy", LONG).tryAcquire().orElseThrow().release()).isTrue();
  }

  @Test
  @MayWarn("the store did not confirm its end")
  @Warns("lock=busy .*hold lost")
  void serverThatEnds_isUnreachable_untilItIsStartedAgain() throws Exception {
    RedisServer server = server("always");
    Holdfast client = client(server);
    DistributedLock lock = client.lock("x", LONG);
    Hold busy = client(server).lock("busy", SHORT).acquire();
    CompletableFuture<Hold> waiter = client.lock("busy", LONG).acquireAsync(Duration.ofSeconds(12));
    awaitWaiter(server);
    fill(server);
    assertThat(server.says(redis -> true)).as("it runs").isFalse();
    Await.until("the hold is at risk", () -> busy.state() != HoldState.HELD);
    Await.until("the loss is told", () -> busy.state() == HoldState.LOST);
    assertThatThrownBy(() -> lock.tryAcquire().isPresent())
        .isInstanceOfSatisfying(
            StoreUnavailableException.class,
            e -> assertThat(e.reason()).isEqualTo(Reason.UNREACHABLE));
    assertThat(Await.failure(waiter)).isInstanceOf(HoldfastException.class);
    // its disk went with it
    server.start();
    assertNothingIsLeft(server, client, busy);
  }

  private static void assertNothingIsLeft(RedisServer server, Holdfast client, Hold lost)
      throws InterruptedException {
    try (Hold next = client.lock(lost.lockName(), LONG).acquire(Duration.ofSeconds(10))) {
      assertThat(next.token()).isGreaterThan(lost.token());
    }
    assertThat(client.lock("x", LONG).tryAcquire().orElseThrow().release()).isTrue();
    Await.until("nobody waits", () -> server.call(redis -> redis.zcard("holdfast:{busy}:q")) == 0);
  }
}
