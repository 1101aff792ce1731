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
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A database that is full refuses what would make it grow, and nothing else. */
@Tag("all")
class EtcdFullTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final LockOptions OPTIONS =
      LockOptions.builder().leaseFor(LEASE).build();

  @Test
  void holdIsRenewedAndReleased_newOnesAreRefused() throws Exception {
    try (EtcdServer server = EtcdServer.with("--quota-backend-bytes=65536");
        Holdfast holdfast = Holdfast.connect(server.uri())) {
      Hold hold = holdfast.lock("job", OPTIONS).acquire();
      String value = "x".repeat(40_000);
      Await.until("the database is full", () -> isFull(server, value));
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
        Holdfast holdfast = Holdfast.connect(server.uri())) {
      // keeps the lease renewed that all of them share
      Hold other = holdfast.lock("other", OPTIONS).acquire();
      AtomicInteger refused = new AtomicInteger();
      AtomicBoolean full = new AtomicBoolean();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        DistributedLock lock = holdfast.lock("job-" + i, OPTIONS);
        Thread thread = new Thread(() -> {
          while (!full.get()) {
            try (Hold hold = lock.tryAcquire().orElseThrow()) {
              assertThat(hold.isValid()).isTrue();
            } catch (StoreUnavailableException e) {
              assertThat(e.reason()).isEqualTo(Reason.FULL);
              refused.incrementAndGet();
              full.set(true);
            }
          }
        });
        thread.start();
        threads.add(thread);
      }
      String value = "x".repeat(8_000);
      Await.until("the database is full", () -> isFull(server, value));
      for (Thread each : threads) {
        each.join();
      }
      assertThat(refused).hasPositiveValue();
      assertThat(other.release()).isTrue();
      assertThat(holdfast.admin().list("")).isEmpty();
    }
  }

  private static boolean isFull(EtcdServer server, String value) {
    try {
      server.call("/v3/kv/put", "{\"key\":\"eA==\",\"value\":\"" + value + "\"}");
      return false;
    } catch (UncheckedIOException e) {
      return true;
    }
  }
}
