// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.etcd.EtcdServer;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A database that is full refuses what would make it grow, and nothing else. */
@Tag("all")
class EtcdFullTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final LockOptions OPTIONS =
      LockOptions.builder().leaseFor(LEASE).build();

  /** A claim that waited before the database was full holds under the waiters' lease: it gets none of its own. */
  @Test
  void databaseIsFull_holdsAndWaitersGoOn_newClaimsAreRefused() throws Exception {
    try (EtcdServer server = EtcdServer.with("--quota-backend-bytes=65536");
        Holdfast holdfast = Holdfast.connect(server.uri());
        Holdfast other = Holdfast.connect(server.uri())) {
      Hold hold = holdfast.lock("job", OPTIONS).acquire();
      CompletableFuture<Hold> waiting = other.lock("job", OPTIONS).acquireAsync();
      Await.until(
          "it waits", () -> holdfast.admin().inspect("job").orElseThrow().waiters() == 1);
      String value = "x".repeat(40_000);
      Await.until("the database is full", () -> isFull(server, value));
      assertThatThrownBy(() -> other.lock("another", OPTIONS).tryAcquire())
          .isInstanceOfSatisfying(
              StoreUnavailableException.class,
              refused -> assertThat(refused.reason()).isEqualTo(Reason.FULL))
          .hasMessageContaining("--quota-backend-bytes");
      outliveALease();
      assertThat(hold.isValid()).as("renewed").isTrue();
      assertThat(hold.release()).isTrue();
      Hold next = Await.value(waiting);
      outliveALease();
      assertThat(next.isValid()).as("renewed under the waiters' lease").isTrue();
      assertThat(next.release()).isTrue();
    }
  }

  private static void outliveALease() {
    long began = System.nanoTime();
    Await.until("a lease has passed", () -> System.nanoTime() - began > LEASE.toNanos());
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
