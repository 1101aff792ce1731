// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.Tunnel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server that dies and hangs while locks are held and waited for, a network that is cut, and operators. */
@Tag("all")
class ConsulFaultsTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofSeconds(60)).build();

  private final ConsulServer server = ConsulServer.with();
  private final Tunnel tunnel = new Tunnel(server.port());
  private final List<Holdfast> clients = new ArrayList<>();

  private Holdfast client(String agents) {
    return client(agents, Duration.ofSeconds(2));
  }

  private Holdfast client(String agents, Duration requestTimeout) {
    Holdfast client = Holdfast.builder()
        .store("consul://" + agents + "?" + ConsulUnderTest.BRIEF.substring(1))
        .requestTimeout(requestTimeout)
        .storeRetryFor(Duration.ofMinutes(2))
        .build();
    clients.add(client);
    return client;
  }

  @AfterEach
  void close() {
    tunnel.heal();
    clients.forEach(Holdfast::close);
    tunnel.close();
    server.close();
  }

  private boolean isAwaited() {
    return server.call("GET", "/v1/kv/?keys", "").contains("wanted:job");
  }

  private String session() {
    return server
        .call("GET", "/v1/kv/holdfast/lock:job", "")
        .replaceAll(".*\"Session\":\"|\".*", "");
  }

  /** Holds and waits outlive a server that is killed and started again. */
  @Test
  void serverRestarted_whileSomebodyWaits() throws Exception {
    // a release is repeated for as long as that: a server that was restarted is not ready at once
    Duration ready = Duration.ofSeconds(15);
    Hold hold = client(server.endpoint(), ready).lock("job", LONG).acquire();
    CompletableFuture<Hold> waiter =
        client(server.endpoint(), ready).lock("job", LONG).acquireAsync();
    Await.until("it waits", this::isAwaited);
    server.restart();
    assertThat(hold.isValid()).isTrue();
    assertThat(waiter).isNotDone();
    assertThat(hold.release()).isTrue();
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
  }

  /** An agent that is away is left for the next one in the address. */
  @Test
  void agentThatIsAway_isLeft() throws Exception {
    String nobody = "127.0.0.1:" + ServerProcess.freePort();
    Holdfast holdfast = client(nobody + "," + server.endpoint());
    for (int i = 0; i < 3; i++) {
      assertThat(holdfast.lock("job", LONG).acquire().release()).isTrue();
    }
  }

  /** An agent that takes connections and says nothing is left, too, and holds are renewed at the other one. */
  @Test
  void agentThatHangs_isLeft() throws Exception {
    Holdfast holdfast = client("127.0.0.1:" + tunnel.port() + "," + server.endpoint());
    LockOptions renewed = LockOptions.builder().leaseFor(Duration.ofSeconds(20)).build();
    Hold hold = holdfast.lock("job", renewed).acquire();
    Duration before = hold.remaining();
    tunnel.stall();
    Await.until(
        "it is renewed",
        () -> hold.remaining().compareTo(before.minusSeconds(5)) < 0
            || hold.state() != HoldState.HELD);
    Await.until(
        "it was renewed elsewhere",
        () -> hold.state() == HoldState.HELD
            && hold.remaining().compareTo(before.minusSeconds(4)) > 0);
    assertThat(holdfast.lock("another", LONG).acquire().release()).isTrue();
    assertThat(hold.release()).isTrue();
  }

  /** What was released while the waiter was cut off is found when it is back. */
  @Test
  void release_whileTheWaiterIsCutOff() throws Exception {
    Hold hold = client(server.endpoint()).lock("job", LONG).acquire();
    CompletableFuture<Hold> waiter =
        client("127.0.0.1:" + tunnel.port()).lock("job", LONG).acquireAsync();
    Await.until("it waits", this::isAwaited);
    tunnel.stall();
    assertThat(hold.release()).isTrue();
    tunnel.drop();
    assertThat(waiter).isNotDone();
    tunnel.heal();
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
  }

  /** A client that is cut off loses its hold by itself, and only later the server gives the lock to the next. */
  @Test
  @Warns("lock=job .*hold lost")
  void holderCutOff_losesItsHoldFirst() throws Exception {
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofSeconds(3)).build();
    Hold hold = client("127.0.0.1:" + tunnel.port()).lock("job", brief).acquire();
    tunnel.stall();
    Hold next = client(server.endpoint()).lock("job", LONG).acquire();
    assertThat(hold.isValid()).isFalse();
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
    assertThat(next.token()).isGreaterThan(hold.token());
    tunnel.heal();
    assertThat(next.release()).isTrue();
  }

  /** An operator destroys the session: the holder is told at its next renewal, long before its lease would have ended. */
  @Test
  @Warns("lock=job .*hold lost")
  void sessionDestroyed_holdIsLost() throws Exception {
    LockOptions renewed = LockOptions.builder().leaseFor(Duration.ofSeconds(6)).build();
    Hold hold = client(server.endpoint()).lock("job", renewed).acquire();
    server.call("PUT", "/v1/session/destroy/" + session(), "");
    Await.value(hold.lost().thenApply(nothing -> true));
    assertThat(hold.isValid()).isFalse();
    assertThat(hold.release()).isFalse();
    Hold next = client(server.endpoint()).lock("job", LONG).acquire();
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
  }

  /** Renewals go on for several leases, and others are refused all the while. */
  @Test
  @MayWarn("lock=clock .*hold lost")
  void renewals_keepTheSession() throws Exception {
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofSeconds(2)).build();
    LockOptions longer = LockOptions.builder().leaseFor(Duration.ofSeconds(8)).build();
    Hold hold = client(server.endpoint()).lock("job", longer).acquire();
    String session = session();
    Holdfast other = client(server.endpoint());
    CompletableFuture<Hold> clock = other.lock("clock", brief).acquireAsync();
    Hold fixed = Await.value(clock);
    // fixed leases, one after the other, which together last longer than ours, while ours is renewed
    fixed.close();
    for (int i = 0; i < 5; i++) {
      Hold each = other.lock("clock", brief.toBuilder().renew(false).build()).acquire();
      Await.until("a lease has passed", () -> !each.isValid());
      assertThat(other.lock("job", LONG).tryAcquire()).isEmpty();
    }
    assertThat(hold.isValid()).isTrue();
    assertThat(session()).isEqualTo(session);
    assertThat(hold.release()).isTrue();
  }

  /** More names are waited for than there are queries: all waiters are served. */
  @Test
  void manyWaits_areAllServed() throws Exception {
    Holdfast holder = client(server.endpoint());
    Holdfast waits = client(server.endpoint());
    List<Hold> holds = new ArrayList<>();
    List<CompletableFuture<Hold>> waiters = new ArrayList<>();
    for (int i = 0; i < 80; i++) {
      holds.add(holder.lock("many-" + i, LONG).acquire());
      waiters.add(waits.lock("many-" + i, LONG).acquireAsync());
    }
    holds.forEach(Hold::close);
    for (CompletableFuture<Hold> each : waiters) {
      assertThat(Await.value(each).release()).isTrue();
    }
  }
}
