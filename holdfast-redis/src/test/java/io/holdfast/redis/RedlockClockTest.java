// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockEvent.Renewed;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.process.LazyServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real Redlock nodes whose clocks are moved: one of three is put up with, a majority is the declared exception. */
@Tag("stores")
class RedlockClockTest {
  private static final RedlockRule RULE =
      new RedlockRule(3, Duration.ofSeconds(9), Duration.ofMillis(500));
  private static final LockOptions RENEWED =
      LockOptions.builder().leaseFor(RULE.maxLease()).build();

  @RegisterExtension
  static final LazyServer<RedlockNodes> NODES =
      new LazyServer<>(() -> RedlockNodes.withClocks(RULE));

  private final List<LockEvent> events = new CopyOnWriteArrayList<>();

  @BeforeEach
  void right() {
    for (int i = 0; i < RULE.nodes(); i++) {
      NODES.get().server(i).clockAhead(Duration.ZERO);
    }
    NODES.get().clear();
  }

  private Holdfast client() {
    return Holdfast.builder()
        .store(NODES.get().store())
        .requestTimeout(Duration.ofSeconds(5))
        .listener(events::add)
        .build();
  }

  private long renewals() {
    return events.stream().filter(Renewed.class::isInstance).count();
  }

  /** One clock is moved: the hold goes on by the others, nobody else gets the lock, and tokens grow. */
  @ParameterizedTest
  @ValueSource(strings = {"PT1H", "PT-1H"})
  void oneClockMoves_changesNothing(Duration step) throws Exception {
    try (Holdfast one = client();
        Holdfast other = client()) {
      Hold hold = one.lock("x", RENEWED).acquire(Await.PATIENCE);
      NODES.get().server(2).clockAhead(step);
      long before = renewals();
      Await.until("it is renewed twice", () -> renewals() >= before + 2);
      assertThat(other.lock("x", RENEWED).tryAcquire()).isEmpty();
      CompletableFuture<Hold> waiter = other.lock("x", RENEWED).acquireAsync();
      assertThat(hold.isValid()).isTrue();
      assertThat(hold.release()).isTrue();
      Hold next = Await.value(waiter);
      assertThat(next.token()).isGreaterThan(hold.token());
      assertThat(next.release()).isTrue();
    }
  }

  /** A majority's clocks step forward: others may have the lock, the holder is told in time, and tokens grow. */
  @ParameterizedTest
  @ValueSource(strings = {"PT10S", "PT1H"})
  @Warns("lock=x .*hold lost")
  void majorityStepsForward_isTold(Duration step) throws Exception {
    try (Holdfast one = client();
        Holdfast other = client()) {
      Hold hold = one.lock("x", RENEWED).acquire(Await.PATIENCE);
      NODES.get().server(1).clockAhead(step);
      NODES.get().server(2).clockAhead(step);
      Await.until("the loss is told", () -> hold.state() == HoldState.LOST);
      Hold next = other.lock("x", RENEWED).acquire(Await.PATIENCE);
      assertThat(next.token()).isGreaterThan(hold.token());
      assertThat(next.release()).isTrue();
    }
  }
}
