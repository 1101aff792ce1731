// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.Tunnel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Four processes with as many waiters as may have a key. */
@Timeout(120)
@Tag("stores")
class EtcdManyWaitersTest {
  private static final int FAIR_CLAIMS = 256;

  /** A waiter is refreshed once in this time. */
  private static final Duration REFRESH = EtcdContext.WAITER_LEASE.dividedBy(3);

  private final String prefix = EtcdUnderTest.nextPrefix();

  /** While nothing changes, a waiter's refresh is one short answer; then the lock goes from one to the next. */
  @Test
  void waitersInALongQueue_readLittle_andAreServedInTheirOrder() throws Exception {
    LockOptions fair = LockOptions.builder().fair(true).build();
    List<Holdfast> crowd = new ArrayList<>();
    List<CompletableFuture<Hold>> waiters = new ArrayList<>();
    // requests that are sent at the same time may overtake each other
    BlockingQueue<Hold> granted = new LinkedBlockingQueue<>();
    try (Holdfast holder = patient(EtcdUnderTest.server().port());
        Tunnel tunnel = new Tunnel(EtcdUnderTest.server().port())) {
      Hold hold = holder.lock("a").acquire();
      try {
        for (int i = 0; i < 4; i++) {
          Holdfast each = patient(tunnel.port());
          crowd.add(each);
          for (int j = 0; j < FAIR_CLAIMS; j++) {
            waiters.add(each.lock("a", fair)
                .acquireAsync(Duration.ofMinutes(5))
                .whenComplete((next, no) -> {
                  if (next != null) {
                    granted.add(next);
                  }
                }));
          }
          Await.until(
              "all wait",
              () -> holder.admin().inspect("a").orElseThrow().waiters().known() == waiters.size());
        }
        // one that comes, or comes again since its process stood still, reads the whole queue
        tunnel.awaitReplies(REFRESH.multipliedBy(4), 1_000, 100_000);
        assertThat(hold.isValid()).isTrue();
        assertThat(hold.release()).isTrue();
        long last = hold.token();
        for (int i = 0; i < 20; i++) {
          Hold next = Objects.requireNonNull(granted.poll(20, TimeUnit.SECONDS), "the next hold");
          assertThat(next.token()).isGreaterThan(last);
          last = next.token();
          assertThat(next.release()).isTrue();
        }
      } finally {
        crowd.forEach(Holdfast::close);
      }
    }
  }

  private Holdfast patient(int port) {
    return Holdfast.builder()
        .store("etcd://127.0.0.1:" + port + "?holdfast.prefix=" + prefix)
        .requestTimeout(Duration.ofSeconds(20))
        .build();
  }
}
