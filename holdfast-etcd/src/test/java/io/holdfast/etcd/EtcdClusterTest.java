// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.etcd.EtcdCluster;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A cluster of three, of which members die, hang, and are cut off. */
@Tag("all")
class EtcdClusterTest {
  /** Long enough for an election on a busy machine. */
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofSeconds(60)).build();

  private final EtcdCluster cluster = EtcdClusterUnderTest.cluster();
  private final String suffix = "?holdfast.prefix=" + EtcdUnderTest.nextPrefix();
  private final List<Holdfast> clients = new ArrayList<>();

  private Holdfast client(String uri) {
    Holdfast client = Holdfast.builder()
        .store(uri + suffix)
        .storeRetryFor(Duration.ofMinutes(2))
        .build();
    clients.add(client);
    return client;
  }

  @AfterEach
  void close() {
    cluster.members().stream().filter(EtcdServer::isRunning).forEach(EtcdServer::resume);
    cluster.startAll();
    clients.forEach(Holdfast::close);
  }

  private void awaitWaiters(Holdfast sees, int count) {
    Await.until(count + " wait", () -> {
      try {
        return sees.admin()
            .inspect("job")
            .filter(info -> info.waiters().known() == count)
            .isPresent();
      } catch (StoreUnavailableException e) {
        return false;
      }
    });
  }

  /** Those who wait are served in their order by the next leader, and tokens grow on. */
  @Test
  void leaderKilled_whileWaitersQueue() throws Exception {
    Holdfast first = client(cluster.uri());
    Hold hold = first.lock("job", LONG).acquire();
    List<CompletableFuture<Hold>> waiters = new ArrayList<>();
    for (int i = 1; i <= 3; i++) {
      waiters.add(client(cluster.uri()).lock("job", LONG).acquireAsync());
      awaitWaiters(first, i);
    }
    cluster.leader().kill();
    cluster.leader();
    assertThat(hold.isValid()).isTrue();
    assertThat(waiters).noneMatch(CompletableFuture::isDone);
    hold.close();
    long token = hold.token();
    for (int i = 0; i < waiters.size(); i++) {
      Hold next = Await.value(waiters.get(i));
      assertThat(next.token()).isGreaterThan(token);
      assertThat(waiters.subList(i + 1, 3)).noneMatch(CompletableFuture::isDone);
      token = next.token();
      next.close();
    }
  }

  /** A member that hangs is passed over, whoever it is. */
  @Test
  @MayWarn("the store did not confirm the release")
  void memberThatHangs_isPassedOver() throws Exception {
    Holdfast holdfast = client(cluster.uri());
    Hold before = holdfast.lock("before", LONG).acquire();
    cluster.members().get(1).pause();
    for (int i = 0; i < 5; i++) {
      Hold hold = holdfast.lock("job", LONG).acquire(Duration.ofSeconds(50));
      assertThat(hold.token()).isPositive();
      hold.close();
    }
    assertThat(before.isValid()).isTrue();
    before.close();
  }

  /** A member that hangs keeps its connections; it is asked whether it is there, and left out when it does not say so. */
  @Test
  void memberThatHangs_isLeftOut() {
    Holdfast holdfast = client(cluster.uri());
    holdfast.admin().list("");
    cluster.members().get(1).pause();
    cluster.leader();
    // requests go to the members in turn
    Await.until(
        "a dozen requests in turn are answered",
        () -> IntStream.range(0, 12).allMatch(i -> isAnswered(holdfast)));
  }

  private static boolean isAnswered(Holdfast holdfast) {
    try {
      return holdfast.admin().inspect("nobody's").isEmpty();
    } catch (HoldfastException e) {
      // it went to the one that hangs
      return false;
    }
  }

  /** Members that the client knows die one after the other; one is always left, and that is enough for it. */
  @Test
  void membersRestartedInTurn_locksGoOn() throws Exception {
    Holdfast holdfast = client(cluster.uri());
    Hold before = holdfast.lock("before", LONG).acquire();
    long token = 0;
    for (EtcdServer each : cluster.members()) {
      each.kill();
      Hold hold = holdfast.lock("job", LONG).acquire(Duration.ofSeconds(50));
      assertThat(hold.token()).isGreaterThan(token);
      token = hold.token();
      hold.close();
      each.start();
      cluster.members().forEach(EtcdServer::awaitHealth);
    }
    assertThat(before.isValid()).isTrue();
    before.close();
  }

  /** Who reaches a minority only is told so, and gets nothing; who reaches the majority goes on. */
  @Test
  void minority_grantsNothing() throws Exception {
    EtcdServer alone = cluster.members().get(0);
    Holdfast cut = Holdfast.builder()
        .store(alone.uri() + suffix)
        .requestTimeout(Duration.ofMillis(500))
        .build();
    clients.add(cut);
    cluster.members().get(1).pause();
    cluster.members().get(2).pause();
    assertThatThrownBy(() -> cut.lock("job", LONG).tryAcquire().isPresent())
        .isInstanceOf(HoldfastException.class);
    cluster.members().get(1).resume();
    cluster.members().get(2).resume();
    cluster.members().forEach(EtcdServer::awaitHealth);
    Hold hold = client(cluster.uri()).lock("job", LONG).acquire(Duration.ofSeconds(50));
    assertThat(hold.isValid()).isTrue();
    hold.close();
  }

  /** A hold whose majority is away is lost at its own deadline; what was stored is stored when it is back. */
  @Test
  @MayWarn("the store did not confirm its end")
  @Warns("lock=job .*hold lost")
  void majorityKilled_holdIsLostInTime() throws Exception {
    Holdfast holdfast = client(cluster.uri());
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofSeconds(3)).build();
    Hold hold = holdfast.lock("job", brief).acquire();
    cluster.members().get(0).kill();
    cluster.members().get(1).kill();
    Await.until("the hold is lost", () -> !hold.isValid());
    cluster.startAll();
    Hold next = client(cluster.uri()).lock("job", LONG).acquire(Duration.ofSeconds(50));
    assertThat(next.token()).isGreaterThan(hold.token());
    next.close();
  }
}
