// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.KeyValue;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The way to the server is cut off and mended, while somebody else still reaches it; and leases that operators end. */
@Tag("all")
class EtcdOutageTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofSeconds(60)).build();

  private final String prefix = EtcdUnderTest.nextPrefix();
  private final Gate gate = new Gate(EtcdUnderTest.server().port());
  private final EtcdOperator operator = new EtcdOperator(prefix);
  private final List<Holdfast> clients = new ArrayList<>();
  private final Holdfast cut = client("etcd://" + gate.endpoint());
  private final Holdfast other = client(EtcdUnderTest.server().uri());

  private Holdfast client(String uri) {
    Holdfast client = Holdfast.builder()
        .store(uri + "?holdfast.prefix=" + prefix)
        .storeRetryFor(Duration.ofMinutes(5))
        .build();
    clients.add(client);
    return client;
  }

  @AfterEach
  void close() throws IOException {
    gate.open();
    clients.forEach(Holdfast::close);
    operator.close();
    gate.close();
  }

  /**
   * The server is asked again and again at an even pace, however long it was away: gRPC by itself would have tried six
   * times meanwhile, and then not for the next half minute.
   */
  @Test
  void serverThatWasAwayForLong_isFoundSoon() throws Exception {
    cut.lock("before", LONG).acquire().close();
    gate.shut();
    Await.until("it was tried many times", () -> gate.refused() >= 10);
    CompletableFuture<Hold> waiter = cut.lock("job", LONG).acquireAsync();
    int before = gate.refused();
    Await.until("it is tried on", () -> gate.refused() >= before + 2);
    assertThat(waiter).isNotDone();
    gate.open();
    assertThat(Await.value(waiter).release()).isTrue();
  }

  /** A machine that takes connections and says nothing is not waited for on the first of them for ever. */
  @Test
  void serverThatIsSilent_isConnectedToAnew() throws Exception {
    AtomicInteger connections = new AtomicInteger();
    CompletableFuture<Void> accepting;
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Holdfast client = Holdfast.builder()
            .store("etcd://127.0.0.1:" + silent.getLocalPort())
            .connectLazily()
            .build()) {
      accepting = CompletableFuture.runAsync(() -> {
        while (!silent.isClosed()) {
          try {
            assertThat(silent.accept()).isNotNull();
            connections.incrementAndGet();
          } catch (IOException e) {
            // the test is over
            return;
          }
        }
      });
      CompletableFuture<Hold> waiter = client.lock("job").acquireAsync();
      Await.until("a second connection is made", () -> connections.get() >= 2);
      assertThat(waiter).isNotDone();
      waiter.cancel(false);
    }
    Await.value(accepting);
  }

  /** What the watch missed while it was cut off is read when it is back, though the server has forgotten it. */
  @Test
  void releaseAndCompaction_whileTheWaiterIsCutOff() throws Exception {
    Hold hold = other.lock("job", LONG).acquire();
    CompletableFuture<Hold> waiter = cut.lock("job", LONG).acquireAsync();
    Await.until("it waits", () -> operator.keys().size() == 2);
    gate.shut();
    Await.until("its way is cut", () -> gate.refused() > 0);
    assertThat(hold.release()).isTrue();
    for (int i = 0; i < 3; i++) {
      other.lock("elsewhere", LONG).acquire().close();
    }
    operator.compact();
    assertThat(waiter).isNotDone();
    gate.open();
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
  }

  /** {@code etcdctl lease revoke}: the holder is told at its next renewal, long before its lease would have ended. */
  @Test
  @Warns("lock=job .*hold lost")
  void leaseRevoked_holdIsLost() throws Exception {
    LockOptions renewed = LockOptions.builder().leaseFor(Duration.ofSeconds(6)).build();
    Hold hold = other.lock("job", renewed).acquire();
    operator.revoke(operator.keys().get(0).getLease());
    Hold next = cut.lock("job", LONG).acquire();
    Await.value(hold.lost());
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
    assertThat(hold.isValid()).isFalse();
    assertThat(hold.release()).isFalse();
    assertThat(next.isValid()).isTrue();
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
  }

  /** The same to one that waits: it queues again, and loses its place only. */
  @Test
  void leaseRevoked_waiterQueuesAgain() throws Exception {
    Hold hold = other.lock("job", LONG).acquire();
    Hold elsewhere = cut.lock("elsewhere", LONG).acquire();
    long ofHolds = operator.keys().get(1).getLease();
    CompletableFuture<Hold> waiter = cut.lock("job", LONG).acquireAsync();
    Await.until(
        "it waits, under the lease of those who do",
        () -> operator.keys().size() == 3 && operator.keys().get(2).getLease() != ofHolds);
    KeyValue first = operator.keys().get(2);
    operator.revoke(first.getLease());
    Await.until(
        "it waits again",
        () -> operator.keys().size() == 3
            && operator.keys().get(2).getCreateRevision() > first.getCreateRevision());
    assertThat(waiter).isNotDone();
    assertThat(hold.release()).isTrue();
    assertThat(Await.value(waiter).release()).isTrue();
    assertThat(elsewhere.release()).isTrue();
  }

  /** A hold is lost at its own deadline, though nobody can tell it so, and never while somebody else has the lock. */
  @Test
  @MayWarn("lock=job .*hold lost")
  void holderThatIsCutOff_losesItsHoldFirst() throws Exception {
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofSeconds(3)).build();
    Hold hold = cut.lock("job", brief).acquire();
    gate.shut();
    Hold next = other.lock("job", LONG).acquire();
    assertThat(hold.isValid()).isFalse();
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
    // silent after a loss
    hold.close();
  }

  /** Without a way to the server it is said within the time of a request. */
  @Test
  void cutOff_isSaid() throws Exception {
    gate.shut();
    Await.until("its way is cut", () -> gate.refused() > 0 || !answers());
    assertThat(answers()).isFalse();
    gate.open();
    Await.until("it answers again", this::answers);
  }

  private boolean answers() {
    try {
      return cut.admin().inspect("nothing").isEmpty();
    } catch (HoldfastException e) {
      return false;
    }
  }
}
