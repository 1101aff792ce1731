// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a log shows of events, locks, options and guarantees: durations as people read them. */
class TextsTest {
  private static final Instant SINCE = Instant.parse("2026-11-29T12:00:00Z");

  static List<LockEvent> events() {
    Duration time = Duration.ofMillis(200);
    return List.of(
        new LockEvent.Retrying("x", "no answer", Optional.of(time)),
        new LockEvent.Acquired("x", 7, time),
        new LockEvent.HandedOver("x", 7, time),
        new LockEvent.Renewed("x", 7, time),
        new LockEvent.AtRisk("x", 7, time),
        new LockEvent.Released("x", 7, time, false));
  }

  /** All components are there, in the form that a record has. */
  @ParameterizedTest
  @MethodSource("events")
  void anEvent_isShownAsARecordIs(LockEvent event) throws ReflectiveOperationException {
    StringBuilder expected = new StringBuilder();
    for (var component : event.getClass().getRecordComponents()) {
      Object value = component.getAccessor().invoke(event);
      boolean isTime = value instanceof Duration || value instanceof Optional;
      expected
          .append(expected.isEmpty() ? "" : ", ")
          .append(component.getName())
          .append("=");
      expected.append(isTime ? "200 ms" : value);
    }
    assertThat(event).hasToString(event.getClass().getSimpleName() + "[" + expected + "]");
  }

  @Test
  void anEvent_withoutATimeToWaitFor_saysSo() {
    assertThat(new LockEvent.Retrying("x", "no answer", Optional.empty()))
        .hasToString("Retrying[lockName=x, why=no answer, readyIn=unknown]");
  }

  @Test
  void aLock_isShownWithItsHolder() {
    Holder holder = new Holder("billing", "a1", 4711, "main", "monthly");
    LockInfo taken = new LockInfo(
        "x",
        Optional.of(holder),
        Optional.of(SINCE),
        Duration.ofMillis(29_700),
        7,
        Optional.of(SINCE.plusSeconds(50)),
        Waiters.exactly(2));
    assertThat(taken)
        .hasToString("LockInfo[name=x, holder=billing (host a1, pid 4711, thread main): monthly, "
            + "since=2026-11-29T12:00:00Z, leaseLeft=29.7 s, token=7, "
            + "keptUntil=2026-11-29T12:00:50Z, waiters=2]");
    LockInfo free = new LockInfo(
        "x",
        Optional.empty(),
        Optional.empty(),
        Duration.ZERO,
        7,
        Optional.empty(),
        Waiters.atLeast(0));
    assertThat(free)
        .hasToString("LockInfo[name=x, holder=none, since=none, leaseLeft=0 ms, token=7, "
            + "keptUntil=none, waiters=unknown]");
  }

  @Test
  void waiters_areANumberOnlyWhereAllAreKnown() {
    assertThat(Waiters.exactly(0)).hasToString("0");
    assertThat(Waiters.exactly(2)).hasToString("2");
    assertThat(Waiters.atLeast(0)).hasToString("unknown");
    assertThat(Waiters.atLeast(2)).hasToString("at least 2");
    assertThatThrownBy(() -> Waiters.atLeast(-1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void options_areShownToTheLastNanosecond() {
    assertThat(LockOptions.defaults())
        .hasToString("LockOptions[leaseFor=30 s, renew=true, holdAtMost=none, holdAtLeast=0 ms, "
            + "fair=false, note=, onLost=" + OnLost.doNothing() + "]");
    LockOptions others = LockOptions.builder()
        .leaseFor(Duration.ofNanos(49_999_999))
        .renew(false)
        .holdAtMost(Duration.ofMinutes(10))
        .holdAtLeast(Duration.ofSeconds(50))
        .fair(true)
        .note("report")
        .build();
    assertThat(others)
        .hasToString("LockOptions[leaseFor=49.999999 ms, renew=false, holdAtMost=10 min, "
            + "holdAtLeast=50 s, fair=true, note=report, onLost=" + OnLost.doNothing() + "]");
  }

  @Test
  void guarantees_areShownInTheirOrder() {
    Guarantees guarantees = new Guarantees(
        "a store",
        Set.of(Guarantee.TOKENS_SURVIVE_RESTART, Guarantee.EXCLUDES_PROCESSES),
        Duration.ofMillis(50),
        Duration.ofDays(3660),
        Duration.ofDays(366),
        Duration.ofMillis(1),
        Duration.ofSeconds(1),
        List.of("An exception."));
    assertThat(guarantees)
        .hasToString("Guarantees[store=a store, "
            + "given=[EXCLUDES_PROCESSES, TOKENS_SURVIVE_RESTART], shortestLease=50 ms, "
            + "longestLease=3660 d, longestHoldAtLeast=366 d, granularity=1 ms, wakesWithin=1 s, "
            + "exceptions=[An exception.]]");
  }
}
