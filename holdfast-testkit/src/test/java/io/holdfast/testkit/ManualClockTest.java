// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.Scheduler;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The manual clock: nothing happens by itself, everything in order. */
class ManualClockTest {
  private final ManualClock clock = new ManualClock();
  private final List<String> ran = new ArrayList<>();

  /** Tasks run at their times, in their order, and see those times. */
  @Test
  void advance_runsDueTasksInOrder() {
    long start = clock.nanos();
    note("late", 300);
    note("early", 100);
    note("early too", 100);
    note("never", 1000);
    clock.advance(Duration.ofMillis(300));
    assertThat(ran).containsExactly("early@100", "early too@100", "late@300");
    assertThat(clock.nanos() - start).isEqualTo(300_000_000);
    assertThat(clock.waitingTasks()).isEqualTo(1);
  }

  /** What a task schedules runs in the same move, if it is due within it. */
  @Test
  void advance_runsWhatTasksSchedule() {
    clock.schedule(() -> note("second", 50), 100_000_000);
    clock.advance(Duration.ofMillis(149));
    assertThat(ran).isEmpty();
    clock.advance(Duration.ofMillis(1));
    assertThat(ran).containsExactly("second@50");
  }

  /** Whoever asks to be woken at once, again and again, is found out; many wake-ups with time in between are none of that. */
  @Test
  void advance_withoutAnEnd_isRefused() {
    wakeAgainAfter(1_000);
    clock.advance(Duration.ofSeconds(2));
    wakeAgainAfter(0);
    Duration more = Duration.ofSeconds(1);
    assertThatThrownBy(() -> clock.advance(more))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("time stands still");
  }

  private void wakeAgainAfter(long nanos) {
    clock.schedule(() -> wakeAgainAfter(nanos), nanos);
  }

  /** What is due at once waits for a move, though one of zero. */
  @Test
  void schedule_withoutDelay_waitsForAMove() {
    note("now", 0);
    assertThat(ran).isEmpty();
    clock.advance(Duration.ZERO);
    assertThat(ran).containsExactly("now@0");
  }

  /** A cancelled task does not run. */
  @Test
  void cancel_takesTheTaskOut() {
    Scheduler.Scheduled scheduled = clock.schedule(() -> ran.add("cancelled"), 1000);
    scheduled.cancel();
    clock.advance(Duration.ofSeconds(1));
    assertThat(ran).isEmpty();
    assertThat(clock.waitingTasks()).isZero();
  }

  /** A process that stood still runs everything late, at the end. */
  @Test
  void freeze_runsTasksLate() {
    note("late", 100);
    clock.freeze(Duration.ofSeconds(5));
    assertThat(ran).containsExactly("late@5000");
  }

  /** A machine that slept: the wall clock alone has moved. */
  @Test
  void suspend_movesTheWallClockAlone() {
    long nanos = clock.nanos();
    long wall = clock.wallMillis();
    note("not yet", 100);
    clock.suspend(Duration.ofHours(1));
    assertThat(clock.nanos()).isEqualTo(nanos);
    assertThat(clock.wallMillis() - wall).isEqualTo(3_600_000);
    assertThat(ran).isEmpty();
    clock.stepWall(Duration.ofHours(-2));
    assertThat(clock.wallMillis() - wall).isEqualTo(-3_600_000);
  }

  /** Time does not go back. */
  @Test
  void negativeMoves_areRefused() {
    Duration back = Duration.ofNanos(-1);
    assertThatThrownBy(() -> clock.advance(back)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> clock.freeze(back)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> clock.suspend(back)).isInstanceOf(IllegalArgumentException.class);
  }

  /** Time passes for as long as a call takes, and then stands still again. */
  @Test
  void whileTimePasses_endsWithTheCall() throws Exception {
    note("passed", 60_000);
    String result = clock.whileTimePasses(() -> {
      Await.until("a minute has passed", () -> !ran.isEmpty());
      return "done";
    });
    assertThat(result).isEqualTo("done");
    long then = clock.nanos();
    note("not by itself", 0);
    assertThat(clock.nanos()).isEqualTo(then);
    assertThat(ran).hasSize(1);
  }

  /** The example of the documentation. */
  @Test
  @Warns("hold lost: LEASE_ENDED")
  void example_ofTheDocumentation() throws Exception {
    ManualClock clock = new ManualClock();
    Holdfast holdfast = Holdfast.builder()
        .store(new MemoryStore())
        .ticker(clock)
        .scheduler(clock)
        .build();
    Hold hold = holdfast.lock("job").acquire();
    clock.advance(Duration.ofSeconds(10)); // the lease is renewed, on this thread
    assertThat(hold.remaining()).isGreaterThan(Duration.ofSeconds(29));
    clock.suspend(Duration.ofMinutes(5)); // the machine slept: the hold is lost
    assertThat(hold.isValid()).isFalse();
    holdfast.close();
  }

  private void note(String what, long inMillis) {
    long start = clock.nanos();
    clock.schedule(
        () -> ran.add(what + "@" + (clock.nanos() - start) / 1_000_000), inMillis * 1_000_000);
  }
}
