// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.Tunnel;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A session for leases of one length is a connection and its threads: it goes when no claim needs it. */
@Tag("stores")
class UnusedSessionsTest {
  private static final Duration BRIEF = Duration.ofSeconds(10);

  private static String uri(int port) {
    return "zookeeper://127.0.0.1:" + port + "/unused";
  }

  private final String uri = uri(ZooKeeperUnderTest.server().port());
  private final List<ZooKeeper> handles = new CopyOnWriteArrayList<>();

  @SuppressWarnings("try") // what it extends closes as it does
  private final class Clients extends HandledClients {
    Clients(int port) {
      super(new ZooKeeperAddress(StoreAddress.parse(uri(port))));
    }

    @Override
    public ZooKeeper newZooKeeper(
        String servers,
        int sessionTimeout,
        Watcher watcher,
        boolean canBeReadOnly,
        ZKClientConfig config)
        throws IOException {
      ZooKeeper handle = new ZooKeeper(servers, sessionTimeout, watcher, canBeReadOnly, config);
      handles.add(handle);
      return handle;
    }

    ZooKeeperStore store() {
      return ZooKeeperStore.at(StoreAddress.parse(uri), address, this);
    }
  }

  private boolean isAlive(int handle) {
    return handles.get(handle).getState().isAlive();
  }

  @Test
  void sessionOfALength_staysWhileAClaimIsOnIt_andGoesThen() {
    ZooKeeperStore store = new Clients(ZooKeeperUnderTest.server().port()).store();
    try (StoreByHand one = new StoreByHand("1", store);
        StoreByHand other = new StoreByHand("2", HookedClients.at(uri).store(uri))) {
      Watches watches = store.context().watches();
      Claim elsewhere = other.claim("b");
      other.granted(elsewhere);
      Claim inVain = one.claim("b", BRIEF);
      one.busy(inVain, Mode.QUEUE);
      one.end(inVain, Duration.ZERO);
      assertEquals(1, watches.remembered());
      Claim holder = one.claim("a", BRIEF);
      one.granted(holder);
      // asked again, it is the same claim
      one.granted(holder);
      assertEquals(2, handles.size());
      // a waiter, a try and an end of nothing are over at once, or with their end
      Claim waiter = one.claim("a", BRIEF);
      one.busy(waiter, Mode.QUEUE);
      one.busy(one.claim("a", BRIEF), Mode.TRY);
      one.end(waiter, Duration.ZERO);
      one.end(waiter, Duration.ZERO);
      one.end(one.claim("a", BRIEF), Duration.ZERO);
      for (int i = 0; i < 30; i++) {
        one.forward(BRIEF.dividedBy(4));
        assertInstanceOf(Kept.Held.class, one.keep(holder));
        one.sweep();
      }
      assertTrue(isAlive(1));
      one.end(holder, Duration.ZERO);
      one.forward(Duration.ofSeconds(61));
      one.sweep();
      Await.until("it is closed", () -> !isAlive(1));
      assertTrue(isAlive(0));
      Await.until("its watches are forgotten", () -> watches.remembered() == 0);
      one.granted(one.claim("a", BRIEF));
      assertEquals(3, handles.size());
    }
  }

  /** The answer to its making was lost, and the engine gave its end up before the session's time was over. */
  @Test
  void claimWhoseEndWasNeverFinal_leavesItsSession() throws Exception {
    try (Tunnel tunnel = new Tunnel(ZooKeeperUnderTest.server().port());
        StoreByHand one = new StoreByHand("3", new Clients(tunnel.port()).store());
        StoreByHand other = new StoreByHand("4", HookedClients.at(uri).store(uri))) {
      Claim holder = other.claim("c");
      other.granted(holder);
      Claim first = one.claim("d", BRIEF);
      one.granted(first);
      one.end(first, Duration.ZERO);
      assertEquals(2, handles.size());
      Claim lost = one.claim("c", BRIEF);
      tunnel.stallReplies();
      CompletionStage<Answer> asked = one.ask(lost, Mode.QUEUE);
      Await.until(
          "the server has the node",
          () -> other.keep(holder) instanceof Kept.Held held && held.grant().othersWait());
      tunnel.drop();
      tunnel.heal();
      assertInstanceOf(StoreException.class, Await.failure(asked));
      Await.until("it is connected again", () -> isEnded(one, lost));
      assertFalse(isFinallyEnded(one, lost));
      Await.until("it is closed", () -> {
        // its own session may be connected again later than the one that was asked
        one.forward(Duration.ofSeconds(61));
        one.sweep();
        return !isAlive(1);
      });
    }
  }

  private static boolean isEnded(StoreByHand client, Claim claim) {
    return Await.value(client
        .store
        .end(claim, Duration.ZERO, Instant.MAX)
        .handle((ended, failure) -> failure == null));
  }

  private static boolean isFinallyEnded(StoreByHand client, Claim claim) {
    return Await.value(client.store.end(claim, Duration.ZERO, Instant.MAX)).isFinal();
  }
}
