// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.ManualClock;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is left of a run is looked for on a store that may be away; time passes only where the search lets it. */
class RemainsTest {
  private static final List<String> LOCKS = List.of("a", "b");
  private static final Duration WITHIN = Duration.ofSeconds(20);

  /** How long it lets pass from one look to the next. */
  private static final int LOOK_MILLIS = 100;

  private final ManualClock clock = new ManualClock();
  private final MemoryDatabase database = new MemoryDatabase(clock);
  private final Journal journal = new Journal();
  private final Holdfast worker = client();
  private int away;

  @AfterEach
  void close() {
    worker.close();
  }

  private Holdfast client() {
    return Holdfast.builder()
        .store(new MemoryStore(database))
        .ticker(clock)
        .scheduler(clock)
        .build();
  }

  private Holdfast connect() {
    if (away-- > 0) {
      throw new StoreUnavailableException("away", null, "store", Reason.UNREACHABLE, null);
    }
    return client();
  }

  private String look() throws InterruptedException {
    return new Remains(
            this::connect, journal, clock, nanos -> clock.advance(Duration.ofNanos(nanos)))
        .lookFor(LOCKS, WITHIN);
  }

  @Test
  void nothingIsLeft() throws Exception {
    assertThat(look()).isEmpty();
    assertThat(told()).containsExactly("LOOKED_FOR a", "LOOKED_FOR b");
  }

  private List<String> told() {
    return journal.inOrder().stream()
        .map(each -> each.what() + " " + each.text())
        .toList();
  }

  /** One that renews itself is a leak, however long one waits. */
  @Test
  void whatIsLeft_isSaid_afterItsTime() throws Exception {
    try (Hold hold = worker.lock("b").acquire()) {
      long begun = clock.nanos();
      assertThat(look()).isEmpty();
      assertThat(hold.isValid()).isTrue();
      assertThat(clock.nanos() - begun).isBetween(WITHIN.toNanos(), WITHIN.toNanos() * 2);
    }
    assertThat(told()).containsExactly("LOOKED_FOR a", "LOOKED_FOR b", "LEFT_BEHIND lock b");
  }

  @Test
  void storeThatStaysAway_isNoLeak_andSaid() throws Exception {
    away = Integer.MAX_VALUE;
    assertThat(look()).isEqualTo("away");
    assertThat(journal.inOrder()).isEmpty();
  }

  /** On some stores the leases of those who could not release begin anew when it comes back, as late as it does. */
  @Test
  @Warns("hold lost: LEASE_ENDED")
  void storeThatComesBackLate_givesWhatIsLeftItsTime() throws Exception {
    Duration lease = WITHIN.plusSeconds(10);
    LockOptions options = LockOptions.builder().leaseFor(lease).renew(false).build();
    Hold hold = worker.lock("a", options).acquire();
    away = (int) (WITHIN.toMillis() / LOOK_MILLIS) - 1;
    assertThat(look()).isEmpty();
    assertThat(hold.isValid()).isFalse();
    assertThat(told()).containsExactly("LOOKED_FOR a", "LOOKED_FOR b");
  }
}
