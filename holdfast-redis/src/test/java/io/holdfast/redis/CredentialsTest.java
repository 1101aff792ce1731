// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.AcquireUnknownException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import io.lettuce.core.KillArgs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A login that no longer works, while clients are connected with it; and that works again. */
@Tag("stores")
class CredentialsTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(1)).build();

  private static final LockOptions BRIEF =
      LockOptions.builder().leaseFor(Duration.ofMillis(1500)).build();

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private static void acl(RedisServer server, String rules) {
    server.setUser("me", List.of(rules.split(" ")));
  }

  private static void assertRefused(Throwable failure) {
    assertThat(failure).isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
      assertThat(e.reason()).isEqualTo(Reason.REFUSED);
      assertThat(e.getMessage()).contains("WRONGPASS").doesNotContain("secret");
    });
  }

  @ParameterizedTest
  @ValueSource(strings = {"resetpass >another", "off"})
  @MayWarn("the store did not confirm its end")
  @Warns("lock=brief .*hold lost")
  void login_thatWorksNoLonger_isToldAndRecoveredFrom(String change) throws Exception {
    RedisServer server = RedisServer.forgetful();
    open.add(server);
    acl(server, "on >secret allkeys allchannels allcommands");
    Holdfast client = Clients.connect(server.uri().replace("//", "//me:secret@"));
    open.add(client);
    Holdfast other = Clients.connect(server.uri());
    open.add(other);
    DistributedLock lock = client.lock("x", LONG);
    Hold goesOn = client.lock("long", LONG).acquire();
    Hold ends = client.lock("brief", BRIEF).acquire();
    Hold busy = other.lock("busy", LONG).acquire();
    // it is the refusal of its refresh that ends it, long before its time is up
    CompletableFuture<Hold> waiter = client.lock("busy", LONG).acquireAsync(Duration.ofMinutes(1));
    awaitWaiters(server, 1);
    acl(server, change);
    server.call(redis -> redis.clientKill(KillArgs.Builder.user("me")));
    Await.until("the hold is at risk", () -> goesOn.state() == HoldState.AT_RISK);
    Await.until("new requests are refused", () -> isRefused(lock));
    assertRefused(Await.failure(lock.tryAcquireAsync()));
    // it stood in line when the login ended: whether it was granted since cannot be asked
    assertThat(Await.failure(waiter))
        .isInstanceOfSatisfying(
            AcquireUnknownException.class,
            e -> assertThat(e.getCause()).hasMessageContaining("WRONGPASS"));
    Await.until("the loss is told", () -> ends.state() == HoldState.LOST);
    assertThat(goesOn.isValid()).isTrue();

    acl(server, "on resetpass >secret");
    Await.until("the hold is held again", () -> goesOn.state() == HoldState.HELD);
    assertThat(goesOn.release()).isTrue();
    try (Hold next = client.lock("brief", BRIEF).acquire(Duration.ofSeconds(10))) {
      assertThat(next.token()).isGreaterThan(ends.token());
    }
    awaitWaiters(server, 0);
    assertThat(busy.release()).isTrue();
    assertThat(client.lock("busy", LONG).tryAcquire().orElseThrow().release()).isTrue();
  }

  private static boolean isRefused(DistributedLock lock) {
    try {
      return lock.tryAcquire().isEmpty();
    } catch (StoreUnavailableException e) {
      // until the next connection was refused it is only not there
      return e.reason() == Reason.REFUSED;
    }
  }

  /** Who waits here has left, or was taken out when its time was up. */
  private static void awaitWaiters(RedisServer server, int count) {
    Await.until(
        count + " wait", () -> server.call(redis -> redis.zcard("holdfast:{busy}:q")) == count);
  }
}
