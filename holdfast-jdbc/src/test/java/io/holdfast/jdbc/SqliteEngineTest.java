// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.ConfigurationException;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.contract.StoreContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The store under the real engine, found by its address. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = StoreContract.SHARED, mode = ResourceAccessMode.READ)
class SqliteEngineTest {
  @TempDir
  private Path folder;

  private Holdfast connect() {
    return Clients.connect("sqlite:" + folder.resolve("locks.db"));
  }

  @Test
  void aLock_excludesAnotherClient() throws InterruptedException {
    try (Holdfast one = connect();
        Holdfast two = connect()) {
      long token;
      try (Hold hold = one.lock("a").acquire()) {
        token = hold.token();
        assertThat(two.lock("a").tryAcquire()).isEmpty();
        assertThatThrownBy(() -> two.lock("a").acquire(Duration.ofMillis(50)))
            .isInstanceOf(AcquireTimeoutException.class)
            .hasMessageContaining("pid " + ProcessHandle.current().pid());
        assertThat(two.admin().list("")).hasSize(1);
      }
      try (Hold hold = two.lock("a").acquire(Duration.ofSeconds(5))) {
        assertThat(hold.token()).isGreaterThan(token);
      }
    }
  }

  /** Two clients and several threads take turns at one lock. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void clientsAndThreads_takeTurns(boolean fair) throws Exception {
    LockOptions options = LockOptions.builder().fair(fair).build();
    AtomicInteger inside = new AtomicInteger();
    List<Long> tokens = new ArrayList<>();
    ExecutorService threads = Executors.newCachedThreadPool();
    try (Holdfast one = connect();
        Holdfast two = connect()) {
      List<Future<?>> all = new ArrayList<>();
      for (int t = 0; t < 6; t++) {
        Holdfast client = t % 2 == 0 ? one : two;
        all.add(threads.submit(() -> {
          for (int i = 0; i < 50; i++) {
            try (Hold hold = client.lock("a", options).acquire(Duration.ofSeconds(60))) {
              assertThat(inside.incrementAndGet()).isEqualTo(1);
              tokens.add(hold.token());
              inside.decrementAndGet();
            }
          }
          return null;
        }));
      }
      for (Future<?> each : all) {
        each.get(90, TimeUnit.SECONDS);
      }
      assertThat(tokens).hasSize(300).isSorted().doesNotHaveDuplicates();
      assertThat(one.admin().list("")).isEmpty();
    } finally {
      threads.shutdownNow();
    }
  }

  /** A hold is kept past its lease, by renewal. */
  @Test
  void aHold_isKept() throws InterruptedException {
    LockOptions options = LockOptions.builder().leaseFor(Duration.ofSeconds(9)).build();
    try (Holdfast one = connect();
        Holdfast two = connect();
        Hold hold = one.lock("a", options).acquire()) {
      assertThatThrownBy(() -> two.lock("a").acquire(Duration.ofSeconds(10)))
          .isInstanceOf(AcquireTimeoutException.class);
      assertThat(hold.isValid()).isTrue();
      assertThat(hold.release()).isTrue();
    }
  }

  @Test
  void badFiles_failAtTheStart() throws IOException {
    Path notes = Files.writeString(folder.resolve("notes"), "notes\n".repeat(200));
    assertThatThrownBy(() -> Holdfast.connect("sqlite:" + notes).close())
        .isInstanceOfSatisfying(
            StoreUnavailableException.class,
            e -> assertThat(e.reason()).isEqualTo(StoreUnavailableException.Reason.DAMAGED));
    assertThatThrownBy(
            () -> Holdfast.connect("sqlite:" + folder.resolve("no/such/file")).close())
        .isInstanceOf(ConfigurationException.class);
  }
}
