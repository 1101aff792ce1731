// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.consul.ConsulCluster;
import io.holdfast.testkit.consul.ConsulServer;
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
class ConsulClusterTest {
  /** Long enough for an election on a busy machine. */
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofSeconds(60)).build();

  private final ConsulCluster cluster = ConsulClusterUnderTest.cluster();
  private final String suffix =
      "?holdfast.prefix=" + ConsulUnderTest.nextPrefix() + ConsulUnderTest.BRIEF;
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
    cluster.members().stream().filter(ConsulServer::isRunning).forEach(ConsulServer::resume);
    cluster.startAll();
    clients.forEach(Holdfast::close);
  }

  /** The hold stays valid through an election, those who wait are served by the next leader, and tokens grow on. */
  @Test
  void leaderKilled_whileWaitersQueue() throws Exception {
    Hold hold = client(cluster.uri()).lock("job", LONG).acquire();
    List<CompletableFuture<Hold>> waiters = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waiters.add(client(cluster.uri()).lock("job", LONG).acquireAsync());
    }
    Await.until(
        "somebody left word",
        () -> cluster.leader().call("GET", "/v1/kv/?keys", "").contains("wanted:job"));
    cluster.leader().kill();
    cluster.leader();
    assertThat(hold.isValid()).isTrue();
    assertThat(waiters).noneMatch(CompletableFuture::isDone);
    hold.close();
    long token = hold.token();
    List<CompletableFuture<Hold>> left = new ArrayList<>(waiters);
    for (int i = 0; i < 3; i++) {
      int first = Await.present(
          "a next holder",
          () -> IntStream.range(0, left.size())
              .filter(each -> left.get(each).isDone())
              .boxed()
              .findFirst());
      Hold next = Await.value(left.remove(first));
      assertThat(next.token()).isGreaterThan(token);
      assertThat(left).noneMatch(CompletableFuture::isDone);
      token = next.token();
      next.close();
    }
  }

  /** A member that hangs is passed over, whoever it is. */
  @Test
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

  /** Who reaches a minority only is told so, and gets nothing; who reaches the majority goes on. */
  @Test
  void minority_grantsNothing() throws Exception {
    ConsulServer alone = cluster.members().get(0);
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
    cluster.members().forEach(ConsulServer::awaitHealth);
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
