// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holder;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.LazyServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A cluster to which nothing is done: it has so long a node time-out that it stays whole on a machine which stands still. */
@Tag("all")
class WholeClusterTest {
  /** Long enough that a waiter hears of a hand-over by a message. */
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();

  @RegisterExtension
  static final LazyServer<ClusterServers> SERVERS =
      new LazyServer<>(() -> new ClusterServers(Duration.ofMinutes(1)));

  /** Locks all over the cluster are kept by one call, and listed by one. */
  @Test
  void locksOfManySlots_areKeptAndListedTogether() {
    RecordingStart start = new RecordingStart();
    try (RedisStore store = RedisStore.at(StoreAddress.parse(SERVERS.get().uri()))) {
      store.start(start.runtime(), start);
      Await.value(store.connect());
      List<Claim> claims = new ArrayList<>();
      Set<Integer> nodes = new HashSet<>();
      for (int i = 0; i < 50; i++) {
        String name = "many-" + i;
        Claim claim = new Claim(
            new ClaimId(start.runtime().client(), i + 1),
            LockKey.of(name),
            1,
            1,
            Duration.ofMinutes(1),
            false,
            new Holder("tester", "host", 1, "main", ""));
        claims.add(claim);
        nodes.add(SERVERS.get().primary(name).port());
        assertThat(Await.value(store.attempt(claim, Mode.TRY, store.time().plusSeconds(5))))
            .isInstanceOf(Answer.Granted.class);
      }
      assertThat(nodes).hasSize(3);
      Map<ClaimId, Kept> kept = Await.value(store.keep(claims));
      assertThat(kept).hasSize(50);
      assertThat(kept.values()).allMatch(each -> each instanceof Kept.Held);
      var page = Await.value(store.list("many-", Optional.empty()));
      assertThat(page.locks()).hasSize(50);
      for (Claim claim : claims) {
        assertThat(Await.value(store.end(claim, Duration.ZERO, store.time())).outcome())
            .isEqualTo(Outcome.RELEASED);
      }
    }
  }

  /** The address of a cluster is not that of a server, and the other way round: each says what to write. */
  @Test
  void wrongScheme_isSaid() {
    String node = "redis://127.0.0.1:" + SERVERS.get().servers().get(0).port();
    assertRefused(node, "redis-cluster://");
    try (RedisServer single = RedisServer.forgetful()) {
      assertRefused("redis-cluster://127.0.0.1:" + single.port(), "redis://");
    }
  }

  private static void assertRefused(String uri, String advice) {
    assertThatThrownBy(() -> Holdfast.connect(uri).close())
        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
          assertThat(e.reason()).isEqualTo(Reason.REFUSED);
          assertThat(e.getMessage()).contains("write " + advice);
        });
  }

  /** A user with exactly the permissions that doctor prints can do everything, at every node. */
  @Test
  void aclLine_isEnough() throws Exception {
    List<String> rules = Diagnosis.of(SERVERS.get().uri()).rules("secret");
    SERVERS.get().servers().forEach(each -> each.setUser("me", rules));
    String uri = SERVERS.get().uri().replace("//", "//me:secret@");
    try (Holdfast me = Holdfast.connect(uri);
        Holdfast other = Holdfast.connect(SERVERS.get().uri())) {
      for (String name : List.of("a", "b", "c", "d", "{e}")) {
        Hold hold = me.lock(name, LONG).acquire();
        CompletableFuture<Hold> waiter = other.lock(name, LONG).acquireAsync();
        Await.until(
            "it waits",
            () -> me.admin().inspect(name).map(info -> info.waiters().known()).orElse(0) == 1);
        assertThat(hold.release()).isTrue();
        assertThat(Await.value(waiter).release()).isTrue();
      }
      assertThat(Diagnosis.of(uri).findings()).noneMatch(each -> each.level() == Level.PROBLEM);
    }
  }
}
