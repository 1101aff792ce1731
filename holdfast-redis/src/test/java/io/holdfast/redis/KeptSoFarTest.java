// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Kept;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What is told of a renewal in two parts, one of which is not answered in time. */
class KeptSoFarTest {
  private static final ClaimId CLAIM = new ClaimId("0123456789abcdef0123456789abcdef", 1);
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final ManualClock clock = new ManualClock();
  private final StoreRuntime runtime =
      new StoreRuntime(CLAIM.client(), clock, clock, new Random(1), Duration.ofSeconds(2));
  private final KeptSoFar kept = new KeptSoFar(2);
  private final CompletableFuture<Void> one = new CompletableFuture<>();
  private final CompletableFuture<Void> other = new CompletableFuture<>();
  private final CompletableFuture<Map<ClaimId, Kept>> told =
      kept.when(List.of(one, other), runtime, PATIENCE).toCompletableFuture();

  private void answerOne() {
    kept.put(CLAIM, new Kept.Gone());
    kept.partIsAnswered();
    one.complete(null);
  }

  @Test
  void whatWasAnswered_isToldWhenTheTimeIsUp() {
    answerOne();
    assertThat(told).isNotDone();
    clock.advance(PATIENCE);
    assertThat(Await.value(told)).isEqualTo(Map.of(CLAIM, new Kept.Gone()));
  }

  @Test
  void nothing_isWaitedFor_andTheFirstAnswerIsTold() {
    clock.advance(PATIENCE.multipliedBy(2));
    assertThat(told).isNotDone();
    answerOne();
    assertThat(Await.value(told)).isEqualTo(Map.of(CLAIM, new Kept.Gone()));
  }

  @Test
  void all_isToldAtOnce_alsoWhereAPartFailed() {
    answerOne();
    other.completeExceptionally(new IllegalStateException("on purpose"));
    assertThat(Await.value(told)).isEqualTo(Map.of(CLAIM, new Kept.Gone()));
  }

  @Test
  void nothingButFailures_isAFailure() {
    one.completeExceptionally(new IllegalStateException("on purpose"));
    clock.advance(PATIENCE);
    assertThat(told).isNotDone();
    other.completeExceptionally(new IllegalStateException("on purpose"));
    assertThat(Await.failure(told)).hasMessageContaining("on purpose");
  }
}
