// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A store hears rightly whether the thread that calls it waits for nothing else than this one answer. */
class CallerWaitsTest {
  private static final Duration REQUEST = Duration.ofSeconds(2);

  private final ManualClock clock = new ManualClock();
  private final MemoryDatabase database = new MemoryDatabase(clock);
  private final Listening store = new Listening(new MemoryStore(database));
  private final Holdfast holdfast = Holdfast.builder()
      .store(store)
      .ticker(clock)
      .scheduler(clock)
      .callbackExecutor(Runnable::run)
      .requestTimeout(REQUEST)
      .build();
  private final DistributedLock lock = holdfast.lock("job");

  @AfterEach
  void close() {
    holdfast.close();
  }

  @Test
  void blockingCalls_wait() throws Exception {
    lock.acquire().release();
    lock.tryAcquire().orElseThrow().release();
    lock.acquire(REQUEST.multipliedBy(2)).releaseNow();
    lock.run(hold -> {});
    JavaLock java = lock.asJavaLock();
    java.lock();
    try {
      assertThat(java.isHeldByCurrentThread()).isTrue();
    } finally {
      java.unlock();
    }
    assertThat(store.heard).hasSize(10).containsOnly(true);
  }

  /** Its time is up before a request's is: it must be able to return. */
  @Test
  void callWithLessTimeThanARequest_doesNotWait() throws Exception {
    Hold hold = lock.acquire(REQUEST);
    assertThat(store.heard).containsExactly(false);
    assertThat(hold.isValid()).isTrue();
  }

  /** A request about a short lease is given up before the time that a store would take. */
  @Test
  void shortLease_doesNotWait() throws Exception {
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofSeconds(5)).build();
    holdfast.lock("job", brief).acquire().release();
    assertThat(store.heard).containsExactly(false, false);
  }

  /** It should return soon, and some drivers would close their connection. */
  @Test
  void interruptedThread_doesNotWait() throws Exception {
    Hold hold = lock.acquire();
    store.heard.clear();
    Thread.currentThread().interrupt();
    Optional<Hold> other;
    try {
      hold.close();
      other = holdfast.lock("other").tryAcquire();
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(store.heard).containsExactly(false, false);
    assertThat(other).isPresent();
  }

  /** The release of a lost hold is told at once that it is not ours, whatever the store has to be told. */
  @Test
  @Warns("hold lost: LEASE_ENDED")
  void releaseOfALostHold_doesNotWait() throws Exception {
    LockOptions fixed = LockOptions.builder().renew(false).build();
    Hold hold = holdfast.lock("job", fixed).acquire();
    clock.advance(LockOptions.DEFAULT_LEASE);
    store.heard.clear();
    assertThat(hold.release()).isFalse();
    clock.advance(Duration.ofMinutes(1));
    assertThat(store.heard).doesNotContain(true);
  }

  /**
   * While a thread is blocked, another one of this process passes the lock on to it, and it comes back so late that this
   * hold has ended: it asks anew.
   */
  @Test
  void holdThatEndedWhileTheThreadWasBlocked_isNotReturned() throws Exception {
    LockOptions fixed =
        LockOptions.builder().leaseFor(Duration.ofSeconds(6)).renew(false).build();
    DistributedLock brief = holdfast.lock("job", fixed);
    List<Long> passedOn = new CopyOnWriteArrayList<>();
    store.meanwhile = () -> {
      Hold other = brief.tryAcquire().orElseThrow();
      assertThat(other.release()).isTrue();
      clock.advance(fixed.leaseFor());
      passedOn.add(other.token());
    };
    CompletableFuture<Hold> call = new CompletableFuture<>();
    Thread caller = new Thread(() -> {
      try {
        call.complete(brief.acquire());
      } catch (Exception e) {
        call.completeExceptionally(e);
      }
    });
    caller.start();
    Await.until("it was blocked", () -> passedOn.size() == 1);
    Await.until("the call returns", () -> {
      clock.advance(Duration.ofMillis(100));
      return call.isDone();
    });
    Hold hold = Await.value(call);
    assertThat(hold.token()).isGreaterThan(passedOn.get(0) + 1);
    assertThat(hold.isValid()).isTrue();
    assertThat(hold.release()).isTrue();
  }

  @Test
  void asynchronousCalls_doNotWait() {
    Hold hold = Await.value(lock.acquireAsync());
    assertThat(store.heard).containsExactly(false);
    hold.release();
    assertThat(store.heard).containsExactly(false, true);
  }

  /** The callback runs on a thread that waits, but not for what the callback asks for. */
  @Test
  void asynchronousCallInACallback_doesNotWait() throws Exception {
    Hold hold = lock.acquire();
    store.heard.clear();
    CompletableFuture<Hold> waiting = lock.acquireAsync();
    CompletableFuture<Hold> nested =
        waiting.thenCompose(next -> holdfast.lock("other").acquireAsync());
    hold.release();
    assertThat(nested).isDone();
    assertThat(store.heard).containsOnly(false);
  }

  /** A release waits for the end of its hold, and not for what the next one asks for. */
  @Test
  void releaseThatLetsAnotherAsk_waitsForItsOwnEndAlone() throws Exception {
    Hold foreign;
    try (Holdfast other = Holdfast.builder()
        .store(new MemoryStore(database))
        .ticker(clock)
        .scheduler(clock)
        .build()) {
      foreign = other.lock("next").acquire();
      Hold hold = lock.acquire();
      CompletableFuture<Hold> waiting = holdfast.lock("next").acquireAsync();
      store.heard.clear();
      hold.release();
      foreign.release();
      assertThat(store.heard.get(0)).isTrue();
      assertThat(store.heard.subList(1, store.heard.size())).doesNotContain(true);
      Await.value(waiting).release();
    }
  }

  /** Outside of every call, nobody waits. */
  @Test
  void nobodyWaits_outsideOfCalls() throws Exception {
    lock.acquire().release();
    assertThat(store.callerWaits.getAsBoolean()).isFalse();
  }

  /** Asks at each attempt and at each end. */
  private static final class Listening extends ForwardingStore {
    private final List<Boolean> heard = new CopyOnWriteArrayList<>();
    private BooleanSupplier callerWaits = () -> false;
    private @Nullable Runnable meanwhile;

    Listening(MemoryStore to) {
      super(to);
    }

    @Override
    public void start(StoreRuntime runtime, StoreEvents events) {
      callerWaits = runtime.callerWaits();
      super.start(runtime, events);
    }

    @Override
    public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
      boolean waits = callerWaits.getAsBoolean();
      heard.add(waits);
      Runnable now = meanwhile;
      if (waits && now != null) {
        meanwhile = null;
        now.run();
      }
      return super.attempt(claim, mode, giveUpAt);
    }

    @Override
    public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
      heard.add(callerWaits.getAsBoolean());
      return super.end(claim, keepFor, lastGiveUp);
    }
  }
}
