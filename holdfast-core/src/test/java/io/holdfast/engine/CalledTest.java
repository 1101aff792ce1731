// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import org.junit.jupiter.api.Test;

/** Whoever is called to ask the store for all may leave instead. */
class CalledTest {
  @Test
  void withdraw_afterTheCall_theNextOneGetsTheLock() throws InterruptedException {
    try (Holdfast holdfast =
        Holdfast.builder().store("memory:").ticker(new StandingClock()).build()) {
      Hold first = lock(holdfast, 0).acquire();
      BlockingCall called = call(holdfast, 1);
      BlockingCall next = call(holdfast, 2);
      assertThat(called.outcome()).isNull();
      assertThat(next.outcome()).isNull();
      // The thread was interrupted and looks for the last time; the call comes before it leaves.
      called.awake();
      first.release();
      assertThat(called.wasCalled()).isTrue();
      assertThat(called.withdraw()).isTrue();
      assertThat(next.outcome()).isInstanceOf(Hold.class);
    }
  }

  /** Nobody has waited for long. */
  private static final class StandingClock implements Ticker {
    @Override
    public long nanos() {
      return 0;
    }

    @Override
    public long wallMillis() {
      return 0;
    }
  }

  private static BlockingCall call(Holdfast holdfast, int number) {
    return new BlockingCall(
            lock(holdfast, number), Request.Kind.BLOCKING, false, null, new Thread(), () -> {})
        .begin();
  }

  /** With a lease of its own, so that no hold is handed over. */
  private static EngineLock lock(Holdfast holdfast, int number) {
    LockOptions options = LockOptions.builder()
        .leaseFor(LockOptions.DEFAULT_LEASE.plusMillis(number))
        .build();
    return (EngineLock) holdfast.lock("job", options);
  }
}
