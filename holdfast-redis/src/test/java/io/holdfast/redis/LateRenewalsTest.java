// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.ManualClock;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Renewals at two nodes, of which one never answers. */
class LateRenewalsTest {
  private static final String CLIENT = "0123456789abcdef0123456789abcdef";
  private static final Duration REQUEST = Duration.ofSeconds(2);
  private static final long REVISION = 7;

  private final ManualClock clock = new ManualClock();
  private final StoreRuntime runtime =
      new StoreRuntime(CLIENT, clock, clock, new Random(1), REQUEST);
  private final CompletableFuture<List<Object>> answer = new CompletableFuture<>();
  private final Claim answered = claim(1);
  private final Claim silent = claim(2);
  private final CompletableFuture<Map<ClaimId, Kept>> told = new RedisRenewals(
          runtime,
          new TwoNodes(),
          new RedisKeys("test:"),
          new RedisWaits(runtime, new RecordingStart(), false),
          RedisOptions.of(RedisSettings.defaults()))
      .keep(List.of(answered, silent))
      .toCompletableFuture();

  private static Claim claim(int number) {
    return new Claim(
        new ClaimId(CLIENT, number),
        LockKey.of("lock-" + number),
        1,
        1,
        Duration.ofMinutes(1),
        false,
        new Holder("tester", "host", 1, "main", ""));
  }

  /** The first claim's node answers when it is told to. */
  private final class TwoNodes implements RedisRoute {
    private boolean asked;

    @Override
    public Collection<List<Claim>> together(List<Claim> claims) {
      return claims.stream().map(List::of).toList();
    }

    @Override
    public CompletionStage<List<Object>> run(RedisScript script, byte[][] of, byte[]... arguments) {
      boolean isFirst = !asked;
      asked = true;
      return isFirst ? answer : new CompletableFuture<>();
    }

    @Override
    public CompletionStage<RedisReplicas.Confirmed> runConfirmed(
        Predicate<List<Object>> counts, RedisScript script, byte[][] of, byte[]... arguments) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<@Nullable Void> connect() {
      throw new UnsupportedOperationException();
    }

    @Override
    public List<RedisNode> nodes() {
      return List.of();
    }

    @Override
    public Instant time() {
      return Instant.EPOCH;
    }

    @Override
    public void close() {}
  }

  private void answers() {
    byte[] packed = ByteBuffer.allocate(17)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put((byte) 'K')
        .putLong(0)
        .putLong(REVISION)
        .array();
    answer.complete(List.of(packed));
  }

  private void assertTold() {
    Map<ClaimId, Kept> kept = Await.value(told);
    assertThat(kept).containsOnlyKeys(answered.id());
    assertThat(kept.get(answered.id()))
        .isInstanceOfSatisfying(
            Kept.Held.class, held -> assertThat(held.grant().revision()).isEqualTo(REVISION));
  }

  @Test
  void answerInTime_isToldWithoutTheOther() {
    answers();
    assertThat(told).isNotDone();
    clock.advance(REQUEST);
    assertTold();
  }

  @Test
  void answerThatIsLate_isToldAtOnce() {
    clock.advance(REQUEST);
    assertThat(told).isNotDone();
    answers();
    assertTold();
  }
}
