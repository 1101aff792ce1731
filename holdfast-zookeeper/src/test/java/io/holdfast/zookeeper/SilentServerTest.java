// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.Tunnel;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that does not answer any more, and does not break the connection either: a machine without power. */
@Timeout(120)
@Tag("stores")
class SilentServerTest {
  /** A session outlasts the lease by so much that ZooKeeper's own client would let go of a silent server after it. */
  private static final String LONG_SESSION = "?holdfast.longest-lease=15s&holdfast.tick=20s";

  private static final LockOptions OPTIONS =
      LockOptions.builder().leaseFor(Duration.ofSeconds(15)).build();

  private static final AtomicInteger ROOTS = new AtomicInteger();

  /** The session is taken to another server while the hold can still be renewed. */
  @Test
  void serverThatFallsSilent_isLeftInTime() throws Exception {
    int port = ZooKeeperUnderTest.server().port();
    AtomicInteger renewed = new AtomicInteger();
    try (Tunnel one = new Tunnel(port);
        Tunnel other = new Tunnel(port);
        Holdfast holdfast = Holdfast.builder()
            .store("zookeeper://127.0.0.1:" + one.port() + ",127.0.0.1:" + other.port() + "/silent/"
                + ROOTS.incrementAndGet() + LONG_SESSION)
            .listener(event -> {
              if (event instanceof LockEvent.Renewed) {
                renewed.incrementAndGet();
              }
            })
            .build()) {
      Hold hold = holdfast.lock("a", OPTIONS).acquire();
      Tunnel used = one.isUsed() ? one : other;
      assertThat(used == one ? other.isUsed() : one.isUsed()).isFalse();
      used.stall();
      int before = renewed.get();
      // the first of which may have been answered before
      Await.until("it was renewed twice", () -> {
        assertThat(hold.state()).isNotEqualTo(HoldState.LOST);
        return renewed.get() >= before + 2;
      });
      assertThat(hold.state()).isEqualTo(HoldState.HELD);
      assertThat(hold.release()).isTrue();
      used.heal();
    }
  }

  /** One that answers is not left, however long nothing is asked for. */
  @Test
  void serverThatAnswers_isNotLeft() {
    int port = ZooKeeperUnderTest.server().port();
    try (Tunnel one = new Tunnel(port);
        Tunnel other = new Tunnel(port)) {
      String uri = "zookeeper://127.0.0.1:" + one.port() + ",127.0.0.1:" + other.port() + "/silent/"
          + ROOTS.incrementAndGet() + LONG_SESSION;
      HookedClients clients = HookedClients.at(uri);
      try (StoreByHand client = new StoreByHand("a", clients.store(uri))) {
        Duration look = Duration.ofMillis(100);
        for (int i = 0; i < 100; i++) {
          int before = clients.signsAnswered();
          int signs = clients.signs();
          client.forward(look);
          client.run(look.toNanos());
          boolean sent = clients.signs() > signs;
          Await.until("it is answered", () -> !sent || clients.signsAnswered() > before);
        }
        assertThat(client.told).isEmpty();
      }
    }
  }
}
