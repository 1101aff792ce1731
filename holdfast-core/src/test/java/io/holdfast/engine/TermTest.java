// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Moment;
import io.holdfast.spi.Grant;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How long a claim is ours, read while it is renewed. */
class TermTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  private static final class Plain extends Term {
    @Override
    long granularityNanos() {
      return 0;
    }
  }

  private static Grant granted(long anchorMillis, long wallMillis) {
    return new Grant(1, new Moment(anchorMillis * 1_000_000, wallMillis), LEASE, false);
  }

  @Test
  void left_isWhatTheLessGenerousClockLeaves() {
    Term term = new Plain();
    term.extend(granted(1_000, 500_000));
    long valid = Validity.validNanos(LEASE.toNanos(), 0);
    assertThat(term.leftNanos(3_000_000_000L, 501_000)).isEqualTo(valid - 2_000_000_000L);
    assertThat(term.leftNanos(2_000_000_000L, 504_000)).isEqualTo(valid - 4_000_000_000L);
    assertThat(term.anchorNanos()).isEqualTo(1_000_000_000L);
    assertThat(term.leftOf(granted(3_000, 500_000), 3_000_000_000L, 501_000))
        .isEqualTo(valid - 1_000_000_000L);
  }

  /**
   * The wall clock is set forth and back between renewals. Whatever is read was certain at that time or soon after:
   * never the new end of one clock with the old end of the other.
   */
  @Test
  void left_neverMixesTheEndsOfTwoGrantsIntoALaterOne() throws InterruptedException {
    Term term = new Plain();
    long none = Validity.validNanos(LEASE.toNanos(), 0);
    AtomicLong step = new AtomicLong();
    AtomicBoolean done = new AtomicBoolean();
    Thread writer = new Thread(() -> {
      for (long i = 1; !done.get(); i++) {
        step.set(i);
        // in even steps the monotonic clock's end is the nearer one; in odd ones the wall clock's, and before both
        term.extend(granted(i, i % 2 == 0 ? 1L << 40 : i - 2));
      }
    });
    writer.start();
    try {
      for (int i = 0; i < 10_000_000; i++) {
        long left = term.leftNanos(0, 0) - none;
        long latest = step.get();
        long most = latest - latest % 2;
        if (left > most * 1_000_000) {
          throw new AssertionError(left + " ns left in step " + latest);
        }
      }
    } finally {
      done.set(true);
      writer.join();
    }
  }
}
