// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.zookeeper.ZooKeeperEnsemble;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers of an ensemble are killed and paused while locks are held and waited for. */
@Timeout(300)
@Tag("all")
class EnsembleFaultsTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();

  /** Longer than an election takes on a busy machine. */
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofSeconds(30)).build();

  /** A lease whose end a test waits for. */
  private static final LockOptions BRIEF =
      LockOptions.builder().leaseFor(Duration.ofSeconds(3)).build();

  /** The same, where something has to be seen before that. */
  private static final LockOptions NOT_SO_BRIEF =
      LockOptions.builder().leaseFor(Duration.ofSeconds(9)).build();

  private final ZooKeeperEnsemble ensemble = EnsembleUnderTest.servers();
  private final String root = "/faults/" + ROOTS.incrementAndGet();
  private final List<Holdfast> clients = new ArrayList<>();

  @AfterEach
  void repair() {
    for (ZooKeeperServer each : ensemble.servers()) {
      if (each.process().isRunning()) {
        each.process().resume();
      }
    }
    ensemble.start();
    clients.forEach(Holdfast::close);
  }

  private Holdfast client(String servers) {
    Holdfast client = Holdfast.builder()
        .store("zookeeper://" + servers + root + "?holdfast.tick=" + ZooKeeperServer.TICK_MILLIS
            + "ms")
        .storeRetryFor(Duration.ofSeconds(100))
        .build();
    clients.add(client);
    return client;
  }

  /** The leader dies while one holds and two wait: all are served in their order, with tokens that grow. */
  @Test
  void leaderKilled_waitersAreServed() throws Exception {
    Hold hold = client(ensemble.addresses()).lock("a", LONG).acquire();
    CompletableFuture<Hold> first = client(ensemble.addresses()).lock("a", LONG).acquireAsync();
    awaitWaiters(1);
    CompletableFuture<Hold> second =
        client(ensemble.addresses()).lock("a", LONG).acquireAsync();
    awaitWaiters(2);
    ZooKeeperServer leader = ensemble.leader();
    leader.kill();
    Await.until(
        "another one leads", () -> ensemble.servers().stream().anyMatch(ZooKeeperServer::leads));
    assertFalse(first.isDone());
    Await.until("it is held", () -> hold.state() == HoldState.HELD);
    Await.until("the release is confirmed", () -> isReleased(hold));
    Hold next = await(first);
    assertTrue(next.token() > hold.token());
    assertFalse(second.isDone());
    Await.until("the release is confirmed", () -> isReleased(next));
    Hold last = await(second);
    assertTrue(last.token() > next.token());
    last.close();
  }

  /** The followers die: without a majority holds end in time, nothing is granted, and nobody says "busy". */
  @Test
  @MayWarn("the store did not confirm its end")
  @Warns("lock=a .*hold lost")
  void noMajority_holdsEndAndNothingIsGranted() throws Exception {
    ZooKeeperServer left = ensemble.servers().get(0);
    Holdfast holdfast = client(left.address());
    Hold hold = holdfast.lock("a", BRIEF).acquire();
    ensemble.servers().stream().filter(each -> each != left).forEach(ZooKeeperServer::kill);
    Await.until("the hold is lost", () -> hold.state() == HoldState.LOST);
    assertThrows(
        StoreUnavailableException.class,
        () -> holdfast.lock("b", LONG).tryAcquire().isPresent());
    ensemble.start();
    Hold next = await(holdfast.lock("a", LONG).acquireAsync());
    assertTrue(next.token() > hold.token());
    next.close();
  }

  /** The server of one client stands still: that client's hold ends by its own clock, before another client has the lock. */
  @Test
  @Warns("lock=a .*hold lost")
  void silentServer_holdEndsBeforeTheNextOne() throws Exception {
    ZooKeeperServer silent =
        ensemble.servers().stream().filter(each -> !each.leads()).findFirst().orElseThrow();
    String others = ensemble.servers().stream()
        .filter(each -> each != silent)
        .map(ZooKeeperServer::address)
        .reduce((one, other) -> one + "," + other)
        .orElseThrow();
    Hold hold = client(silent.address()).lock("a", NOT_SO_BRIEF).acquire();
    Holdfast other = client(others);
    CompletableFuture<HoldState> whenGranted = other
        .lock("a", LONG)
        .acquireAsync()
        .thenApply(next -> {
          HoldState state = hold.state();
          next.close();
          return state;
        });
    Await.until(
        "it waits", () -> other.admin().inspect("a").orElseThrow().waiters().known() == 1);
    silent.process().pause();
    assertEquals(HoldState.LOST, await(whenGranted));
    silent.process().resume();
  }

  /**
   * Any one server stands still, the client's own or the leader or the third: holds are renewed at the others, at whatever
   * moment between two renewals it happens. An attempt that the silent server did not answer may be applied for as long as the
   * session lives, which is longer than the lease here.
   */
  @Test
  @MayWarn("the store did not confirm its end")
  void anyServerSilent_atAnyMomentBetweenRenewals_holdsGoOn() throws Exception {
    // they are renewed some 8 s after their grant, and every 8 s then
    LockOptions options = LockOptions.builder().leaseFor(Duration.ofSeconds(24)).build();
    int moments = 8;
    Duration between = Duration.ofSeconds(8).dividedBy(moments);
    List<Renewing> all = new ArrayList<>();
    for (int i = 0; i < moments; i++) {
      all.add(new Renewing());
    }
    List<CompletableFuture<Hold>> asked = new ArrayList<>();
    for (int i = 0; i < moments; i++) {
      String name = "a" + i;
      Holdfast holdfast = all.get(i).holdfast;
      asked.add(CompletableFuture.supplyAsync(
              () -> holdfast,
              CompletableFuture.delayedExecutor(
                  i * between.toMillis(), TimeUnit.MILLISECONDS, Runnable::run))
          .thenCompose(client -> client.lock(name, options).acquireAsync()));
    }
    List<Hold> holds = new ArrayList<>();
    for (CompletableFuture<Hold> each : asked) {
      holds.add(await(each));
    }
    for (ZooKeeperServer each : ensemble.servers()) {
      each.process().pause();
      List<Integer> before = all.stream().map(one -> one.renewed.get()).toList();
      await(all.get(0).holdfast.lock("b", options).acquireAsync()).close();
      for (int i = 0; i < moments; i++) {
        Renewing one = all.get(i);
        int known = before.get(i);
        // the first of which may have been answered before
        for (int more : List.of(1, 2)) {
          Await.until(
              "it was renewed at the others",
              () -> one.lost.get() != 0 || one.renewed.get() >= known + more);
          assertEquals(0, one.lost.get());
        }
        assertTrue(holds.get(i).isValid());
      }
      each.process().resume();
      Await.until(
          "it is one of them again", () -> ensemble.servers().stream().allMatch(this::serves));
    }
    for (Hold each : holds) {
      assertTrue(each.release());
    }
  }

  /** A client that counts what becomes of its holds; its session is so long that ZooKeeper's own client would let go of a silent
   * server after the lease. */
  private final class Renewing {
    final AtomicInteger renewed = new AtomicInteger();
    final AtomicInteger lost = new AtomicInteger();
    final Holdfast holdfast = Holdfast.builder()
        .store("zookeeper://" + ensemble.addresses() + root + "?holdfast.tick=20s")
        .storeRetryFor(Duration.ofSeconds(100))
        .listener(event -> {
          if (event instanceof LockEvent.Renewed) {
            renewed.incrementAndGet();
          } else if (event instanceof LockEvent.Lost) {
            lost.incrementAndGet();
          }
        })
        .build();

    Renewing() {
      clients.add(holdfast);
    }
  }

  /** Whether a server has a leader, or is one. */
  private boolean serves(ZooKeeperServer server) {
    return server.ask("srvr").contains("Mode: ");
  }

  private void awaitWaiters(int count) {
    Holdfast any = clients.get(0);
    Await.until(
        count + " wait", () -> any.admin().inspect("a").orElseThrow().waiters().known() == count);
  }

  /** Releases; a connection that is just being made anew has it asked again. */
  private static boolean isReleased(Hold hold) {
    try {
      hold.release();
      return true;
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  /** As {@link Await#value}, but for as long as a session. */
  private static <T> T await(CompletableFuture<T> future) {
    return future.orTimeout(100, TimeUnit.SECONDS).join();
  }
}
