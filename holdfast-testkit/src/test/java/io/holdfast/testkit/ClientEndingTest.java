// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** What is left of a client that was closed: nothing, neither in the store nor here. */
class ClientEndingTest {
  private static final String NAME = "job";

  private final MemoryDatabase database = new MemoryDatabase();

  /** A try and the client's end race, over and over: the try returns, and the lock is free afterwards. */
  @Test
  @SuppressWarnings("FutureReturnValueIgnored") // what became of it is told by the other future
  void tryAcquire_racingClose_leavesNothing() throws Exception {
    int granted = 0;
    int refused = 0;
    ExecutorService other = Executors.newSingleThreadExecutor();
    try (Holdfast rival = client(new MemoryStore(database))) {
      for (int i = 0; i < 2_000; i++) {
        Holdfast holdfast = client(new MemoryStore(database));
        CountDownLatch begins = new CountDownLatch(1);
        CompletableFuture<Optional<Hold>> tried = new CompletableFuture<>();
        other.execute(() -> {
          begins.countDown();
          try {
            tried.complete(holdfast.lock(NAME).tryAcquire());
          } catch (RuntimeException e) {
            tried.completeExceptionally(e);
          }
        });
        begins.await();
        holdfast.close();
        if (resultOf(tried).isPresent()) {
          granted++;
        } else {
          refused++;
        }
        Hold next = rival.lock(NAME).tryAcquire().orElseThrow();
        assertThat(next.release()).isTrue();
      }
    } finally {
      other.shutdownNow();
    }
    System.out.println("tries: " + granted + " granted and ended, " + refused + " refused");
  }

  private static Optional<Hold> resultOf(CompletableFuture<Optional<Hold>> tried) throws Exception {
    Await.until("the try has returned", tried::isDone);
    try {
      Optional<Hold> hold = tried.get();
      assertThat(hold).as("nobody else has it").isPresent();
      assertThat(hold.orElseThrow().isValid()).as("its client is closed").isFalse();
      return hold;
    } catch (ExecutionException e) {
      assertThat(e.getCause())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
      return Optional.empty();
    }
  }

  /** The thread of a try is stopped on its way into the store while its client closes: what it does then is undone. */
  @Test
  void tryAcquire_thatReachesTheStoreAfterTheClose() throws Exception {
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    Holdfast holdfast = client(new ForwardingStore(new MemoryStore(database)) {
      @Override
      public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
        reached.countDown();
        Await.until("it may go on", () -> mayGoOn.getCount() == 0);
        return super.attempt(claim, mode, giveUpAt);
      }
    });
    CompletableFuture<Optional<Hold>> tried =
        CompletableFuture.supplyAsync(() -> holdfast.lock(NAME).tryAcquire());
    reached.await();
    holdfast.close();
    mayGoOn.countDown();
    assertThat(Await.failure(tried))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    try (Holdfast rival = client(new MemoryStore(database))) {
      assertThat(rival.lock(NAME).tryAcquire()).as("free").isPresent();
    }
  }

  /** A try is granted while its client closes, between the end of another claim and its own: it is told so. */
  @Test
  void tryAcquire_grantedWhileTheClientCloses() {
    List<Runnable> atAnEnd = new CopyOnWriteArrayList<>();
    FaultyStore store = new FaultyStore(new ForwardingStore(new MemoryStore(database)) {
      @Override
      public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
        atAnEnd.forEach(Runnable::run);
        return super.end(claim, keepFor, lastGiveUp);
      }
    });
    Holdfast holdfast = client(store);
    Hold other = holdfast.lock("other").tryAcquire().orElseThrow();
    store.faults().on(Verb.ATTEMPT).once().holdBackReply();
    CompletableFuture<Optional<Hold>> tried = holdfast.lock(NAME).tryAcquireAsync();
    atAnEnd.add(store.faults()::letThrough);
    holdfast.close();
    assertThat(other.isValid()).isFalse();
    assertThat(Await.failure(tried))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    try (Holdfast rival = client(new MemoryStore(database))) {
      assertThat(rival.lock(NAME).tryAcquire()).as("free").isPresent();
    }
  }

  /** A pooled thread locked and never unlocked: it does not keep the closed client. */
  @Test
  void closedClient_isGarbage_thoughAThreadNeverUnlocked() throws Exception {
    ExecutorService pool = Executors.newSingleThreadExecutor();
    try {
      WeakReference<Holdfast> client = lockAndClose(pool);
      Await.until("the garbage collector found it", () -> {
        System.gc();
        return client.refersTo(null);
      });
    } finally {
      pool.shutdownNow();
    }
  }

  private WeakReference<Holdfast> lockAndClose(ExecutorService pool) throws Exception {
    Holdfast holdfast = client(new MemoryStore());
    pool.submit(() -> holdfast.lock(NAME).asJavaLock().lock()).get();
    holdfast.close();
    return new WeakReference<>(holdfast);
  }

  /** As above, but somebody still has the client: the thread unlocks as usual, though no view was kept. */
  @Test
  void closedClient_stillKnowsTheOwner() throws Exception {
    Holdfast holdfast = client(new MemoryStore());
    holdfast.lock(NAME).asJavaLock().lock();
    holdfast.close();
    System.gc();
    JavaLock lock = holdfast.lock(NAME).asJavaLock();
    assertThat(lock.holdCount()).isEqualTo(1);
    assertThat(lock.isHeldByCurrentThread()).isFalse();
    lock.unlock();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  private static Holdfast client(LockStore store) {
    return Holdfast.builder()
        .store(store)
        .requestTimeout(Duration.ofMillis(200))
        .build();
  }
}
