// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server tells the leader only of those from whom it has heard something. */
@Timeout(120)
@Tag("stores")
class SignsOfLifeTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();
  private static final Duration TICK = Duration.ofMillis(400);
  private static final int LOOKS = 8;

  /** A client that asks for nothing is heard of four times in what its session outlasts its leases. */
  @Test
  void idleClient_isHeardOf() {
    String uri = "zookeeper://" + ZooKeeperUnderTest.server().address() + "/signs/"
        + ROOTS.incrementAndGet() + "?holdfast.tick=" + TICK.toMillis() + "ms";
    HookedClients clients = HookedClients.at(uri);
    try (StoreByHand client = new StoreByHand("a", clients.store(uri))) {
      int before = clients.signs();
      Duration each = TICK.dividedBy(LOOKS);
      for (int i = 0; i < LOOKS; i++) {
        client.forward(each);
        client.run(each.toNanos());
      }
      assertEquals(4, clients.signs() - before);
    }
  }
}
