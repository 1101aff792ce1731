// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holder;
import io.holdfast.Moment;
import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is remembered of a wait, and until when: for as long as the engine will end it, or a push may come. */
class RedisWaitsTest {
  private final RecordingStart start = new RecordingStart();
  private final RedisWaits waits = new RedisWaits(start.runtime(), start, false);
  private final Moment now = Ticker.system().now();
  private final Claim claim = claim(1);

  private static Claim claim(int number) {
    return new Claim(
        ClaimId.parse("0123456789abcdef0123456789abcdef-" + number),
        LockKey.of("x"),
        1,
        1,
        Duration.ofSeconds(30),
        false,
        new Holder("test", "host", 1, "main", ""));
  }

  private void pushed() {
    waits.received((claim.id() + " 1000 5000000 0").getBytes(StandardCharsets.US_ASCII));
  }

  /** The engine never ends a claim of which certainly nothing is left. */
  @Test
  void attemptThatWasNotApplied_isForgotten() {
    waits.asks(claim, now);
    waits.notApplied(claim);
    assertThat(waits.size()).isZero();
    pushed();
    assertThat(start.told).isEmpty();
  }

  /** An attempt that may have been applied is remembered, whatever becomes of a later one: a push may come for it. */
  @Test
  void attemptWithoutAnAnswer_isRemembered() {
    waits.asks(claim, now);
    waits.asks(claim, now);
    waits.notApplied(claim);
    assertThat(waits.size()).isEqualTo(1);
    pushed();
    assertThat(start.told).containsExactly("granted " + claim.id() + " 1000");
    waits.over(claim);
    assertThat(waits.size()).isZero();
  }

  /** A claim that is queued stays queued, though what it asked since was not applied. */
  @Test
  void queuedClaim_isRememberedUntilItsEnd() {
    waits.asks(claim, now);
    waits.queued(claim, now, 500);
    waits.asks(claim, now);
    waits.notApplied(claim);
    waits.notApplied(claim);
    assertThat(waits.size()).isEqualTo(1);
    pushed();
    assertThat(start.told).hasSize(1);
    waits.over(claim);
    assertThat(waits.size()).isZero();
  }

  /** Others may publish on the channel, too; what they say must not end the connection that hears it. */
  @Test
  void messageThatIsNotOurs_isIgnored() {
    waits.asks(claim, now);
    for (String each : List.of(
        "0123456789abcdef0123456789abcdef-99999999999999999999 1000 5000000 0",
        claim.id() + " 1000 5000000",
        "")) {
      waits.received(each.getBytes(StandardCharsets.US_ASCII));
    }
    assertThat(start.told).isEmpty();
  }

  /** Where replicas have to confirm, a push only says that it is time to ask. */
  @Test
  void push_whereReplicasConfirm_isALook() {
    RedisWaits confirming = new RedisWaits(start.runtime(), start, true);
    confirming.asks(claim, now);
    confirming.received((claim.id() + " 1000 5000000 0").getBytes(StandardCharsets.US_ASCII));
    assertThat(start.told).containsExactly("lookAgain " + claim.id());
  }
}
