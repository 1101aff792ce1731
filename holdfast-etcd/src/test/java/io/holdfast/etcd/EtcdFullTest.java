// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.etcd.EtcdServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A database that is full refuses what would make it grow, and nothing else. */
@Tag("all")
class EtcdFullTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final int WORKERS = 64;
  private static final LockOptions OPTIONS =
      LockOptions.builder().leaseFor(LEASE).build();

  private final ExecutorService pool = Executors.newFixedThreadPool(WORKERS);

  @AfterEach
  void endWorkers() {
    pool.shutdownNow();
  }

  @Test
  void holdIsRenewedAndReleased_newOnesAreRefused() throws Exception {
    try (EtcdServer server = EtcdServer.with("--quota-backend-bytes=65536");
        Holdfast holdfast = client(server)) {
      Hold hold = holdfast.lock("job", OPTIONS).acquire();
      server.fill(40_000);
      assertThatThrownBy(() -> holdfast.lock("another", OPTIONS).tryAcquire())
          .isInstanceOfSatisfying(
              StoreUnavailableException.class,
              refused -> assertThat(refused.reason()).isEqualTo(Reason.FULL))
          .hasMessageContaining("--quota-backend-bytes");
      long began = System.nanoTime();
      Await.until("a lease has passed", () -> System.nanoTime() - began > LEASE.toNanos());
      assertThat(hold.isValid()).as("renewed").isTrue();
      assertThat(hold.release()).isTrue();
    }
  }

  /**
   * Of the request that fills the database, and of those right behind it, the members say "no space" and have applied them.
   * What such an attempt has put is found, or ended. Not every round meets it.
   */
  @RepeatedTest(5)
  void attemptsWhileItFillsUp_leaveNothing() throws Exception {
    try (EtcdServer server = EtcdServer.with("--quota-backend-bytes=1048576");
        Holdfast holdfast = client(server)) {
      // keeps the lease renewed that all of them share
      Hold other = holdfast.lock("other", OPTIONS).acquire();
      AtomicInteger refused = new AtomicInteger();
      List<Future<?>> workers = new ArrayList<>();
      for (int i = 0; i < WORKERS; i++) {
        DistributedLock lock = holdfast.lock("job-" + i, OPTIONS);
        workers.add(pool.submit(() -> {
          while (refused.get() == 0) {
            try (Hold hold = lock.tryAcquire().orElseThrow()) {
              assertThat(hold.isValid()).isTrue();
            } catch (StoreUnavailableException e) {
              assertThat(e.reason()).isEqualTo(Reason.FULL);
              refused.incrementAndGet();
            }
          }
        }));
      }
      server.fill(8_000);
      for (Future<?> each : workers) {
        each.get();
      }
      assertThat(refused).hasPositiveValue();
      assertThat(other.release()).isTrue();
      assertThat(holdfast.admin().list("")).isEmpty();
    }
  }

  private static Holdfast client(EtcdServer server) {
    return Holdfast.builder()
        .store(server.uri())
        .requestTimeout(Duration.ofSeconds(20))
        .build();
  }
}
