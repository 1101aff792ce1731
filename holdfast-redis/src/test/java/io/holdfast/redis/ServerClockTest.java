// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holder;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockEvent.Renewed;
import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.process.LazyServer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server whose clock is moved while it runs: what stays, and what ends as the table of guarantees says. */
@Tag("stores")
class ServerClockTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofDays(1)).build();

  /** Short beside the steps, and long enough to live through a test. */
  private static final LockOptions RENEWED =
      LockOptions.builder().leaseFor(Duration.ofSeconds(6)).build();

  @RegisterExtension
  static final LazyServer<RedisServer> SERVER = new LazyServer<>(RedisServer::withAClock);

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final List<LockEvent> events = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
    SERVER.get().clockAhead(Duration.ZERO);
    SERVER.get().call(redis -> redis.flushall());
  }

  private Holdfast client() {
    Holdfast client = Clients.build(() -> Holdfast.builder()
        .store(SERVER.get().uri())
        .requestTimeout(Clients.REQUEST_TIMEOUT)
        .listener(events::add));
    open.push(client);
    return client;
  }

  private long renewals() {
    return events.stream().filter(Renewed.class::isInstance).count();
  }

  private CompletableFuture<Hold> waiter(LockOptions options) {
    CompletableFuture<Hold> waiter = client().lock("x", options).acquireAsync();
    Await.until("it waits", () -> SERVER.get().call(redis -> redis.zcard("holdfast:{x}:q")) == 1);
    return waiter;
  }

  /** The harness moves the server's clock, and no other. */
  @Test
  void clock_moves() {
    long before = seconds();
    SERVER.get().clockAhead(Duration.ofHours(1));
    assertThat(seconds() - before).isBetween(3600L, 3660L);
    SERVER.get().clockAhead(Duration.ofHours(-1));
    assertThat(seconds() - before).isBetween(-3600L, -3540L);
  }

  private static long seconds() {
    return Long.parseLong(SERVER.get().call(redis -> redis.time()).get(0));
  }

  /**
   * Forward beyond the lease: the hold has ended in the store; it is told at its next renewal, and never valid for
   * longer.
   */
  @ParameterizedTest
  @ValueSource(strings = {"PT10S", "PT1H"})
  @Warns("lock=x .*hold lost")
  void forward_beyondTheLease_endsTheHold(Duration step) throws Exception {
    Hold hold = client().lock("x", RENEWED).acquire();
    CompletableFuture<Hold> waiter = waiter(RENEWED);
    SERVER.get().clockAhead(step);
    long before = renewals();
    Await.until("the loss is told", () -> hold.state() == HoldState.LOST);
    // the first renewal after the step found it gone; one from before it may just be told
    assertThat(renewals()).isLessThanOrEqualTo(before + 1);
    assertThat(hold.isValid()).isFalse();
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
  }

  /** Forward by less than the lease: nobody notices; a waiter that the server takes for dead stands in line anew. */
  @ParameterizedTest
  @ValueSource(strings = {"PT10S", "PT1H"})
  void forward_withinTheLease_isNotNoticed(Duration step) throws Exception {
    Hold hold = client().lock("x", LONG).acquire();
    CompletableFuture<Hold> waiter = waiter(LONG);
    SERVER.get().clockAhead(step);
    assertThat(client().lock("x", LONG).tryAcquire()).isEmpty();
    assertThat(waiter).isNotDone();
    assertThat(hold.state()).isEqualTo(HoldState.HELD);
    assertThat(hold.release()).isTrue();
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
  }

  /** Back: holds are renewed and released as before, waiters get the lock, and tokens grow. */
  @ParameterizedTest
  @ValueSource(strings = {"PT-10S", "PT-1H"})
  void back_goesOn(Duration step) throws Exception {
    Hold hold = client().lock("x", RENEWED).acquire();
    CompletableFuture<Hold> waiter = waiter(RENEWED);
    SERVER.get().clockAhead(step);
    long before = renewals();
    Await.until("it is renewed twice", () -> renewals() >= before + 2);
    assertThat(hold.isValid()).isTrue();
    assertThat(waiter).isNotDone();
    assertThat(hold.release()).isTrue();
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
    Hold last = client().lock("x", RENEWED).tryAcquire().orElseThrow();
    assertThat(last.token()).isGreaterThan(next.token());
    assertThat(last.release()).isTrue();
  }

  /** Who has been connected for long knows an old reading of the clock: he is answered all the same, at once. */
  @ParameterizedTest
  @ValueSource(strings = {"PT10S", "PT-10S", "PT1H", "PT-1H"})
  void clientThatKnowsTheOldTime_isGranted(Duration step) {
    Holdfast client = client();
    long last = 0;
    for (Duration ahead : List.of(Duration.ZERO, step, Duration.ZERO)) {
      SERVER.get().clockAhead(ahead);
      Hold hold = client.lock("x", LONG).tryAcquire().orElseThrow();
      assertThat(hold.token()).isGreaterThan(last);
      last = hold.token();
      assertThat(hold.release()).isTrue();
    }
  }

  /** A holder dies, and the clock steps back: the lock is stuck for the step, and no longer. */
  @Test
  void back_afterAHolderDied_sticksForTheStep() throws Exception {
    RecordingStart start = new RecordingStart();
    Claim claim = new Claim(
        new ClaimId(start.runtime().client(), 1),
        LockKey.of("x"),
        1,
        1,
        Duration.ofMillis(300),
        false,
        new Holder("tester", "host", 1, "main", ""));
    long began;
    try (RedisStore store = RedisStore.at(StoreAddress.parse(SERVER.get().uri()))) {
      store.start(start.runtime(), start);
      Await.value(store.connect());
      began = Ticker.system().nanos();
      assertThat(Await.value(store.attempt(claim, Mode.TRY, store.time().plusSeconds(5))))
          .isInstanceOf(Answer.Granted.class);
    }
    SERVER.get().clockAhead(Duration.ofSeconds(-1));
    Holdfast client = client();
    Hold hold = client.lock("x", LONG).acquire(Duration.ofSeconds(20));
    // for the step longer than the lease, by our own clock
    assertThat(Duration.ofNanos(Ticker.system().nanos() - began))
        .isGreaterThan(Duration.ofSeconds(1));
    assertThat(hold.release()).isTrue();
  }

  /** The one way in which a token goes back: the record is lost, and the clock reads less than its revision. */
  @Test
  void lostRecord_andAStepBack_isTheException() {
    Holdfast client = client();
    Hold first = client.lock("x", LONG).tryAcquire().orElseThrow();
    assertThat(first.release()).isTrue();
    SERVER.get().call(redis -> redis.flushall());
    Hold second = client.lock("x", LONG).tryAcquire().orElseThrow();
    assertThat(second.token()).isGreaterThan(first.token());
    assertThat(second.release()).isTrue();
    SERVER.get().call(redis -> redis.flushall());
    SERVER.get().clockAhead(Duration.ofSeconds(-10));
    Hold third = client.lock("x", LONG).tryAcquire().orElseThrow();
    assertThat(third.token()).isLessThan(first.token());
    assertThat(third.release()).isTrue();
  }
}
