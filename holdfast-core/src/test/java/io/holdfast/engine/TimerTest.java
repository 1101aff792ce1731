// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The timer behind all deadlines, on a clock moved by hand. */
class TimerTest {
  private long nanos;
  private long wallMillis;
  private @Nullable Runnable wakeUp;
  private long wakeUpNanos;
  private int armed;

  private final Ticker ticker = new Ticker() {
    @Override
    public long nanos() {
      return nanos;
    }

    @Override
    public long wallMillis() {
      return wallMillis;
    }
  };

  private final Scheduler scheduler = (task, delay) -> {
    armed++;
    wakeUp = task;
    wakeUpNanos = nanos + delay;
    return () -> {
      if (task.equals(wakeUp)) {
        wakeUp = null;
      }
    };
  };

  private final List<Entry> fired = new ArrayList<>();
  private final List<Entry> jumped = new ArrayList<>();
  private final Timer timer = new Timer(ticker, scheduler, () -> {}, late -> {});

  private final class Entry extends Timed {
    @Override
    void due() {
      fired.add(this);
    }

    @Override
    void clockJumped() {
      jumped.add(this);
    }
  }

  private void passNanos(long step) {
    long end = nanos + step;
    while (wakeUp != null && wakeUpNanos <= end) {
      nanos = Math.max(nanos, wakeUpNanos);
      wallMillis = nanos / 1_000_000;
      Runnable task = wakeUp;
      wakeUp = null;
      task.run();
    }
    nanos = end;
    wallMillis = nanos / 1_000_000;
  }

  @Test
  void entries_fireOnceInOrderAndNotBefore() {
    Random random = new Random(42);
    List<Entry> entries = new ArrayList<>();
    List<Long> dues = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      Entry entry = new Entry();
      entries.add(entry);
      long due = 1L + random.nextInt(2_000_000_000);
      dues.add(due);
      timer.set(entry, due);
    }
    for (int i = 0; i < 500; i += 3) {
      timer.clear(entries.get(i));
    }
    for (int i = 1; i < 500; i += 3) {
      dues.set(i, 1L + random.nextInt(2_000_000_000));
      timer.set(entries.get(i), dues.get(i));
    }
    passNanos(1_000_000_000L);
    for (int i = 0; i < 500; i++) {
      boolean expected = i % 3 != 0 && dues.get(i) <= 1_000_000_000L;
      assertThat(fired.contains(entries.get(i))).as("entry %s", i).isEqualTo(expected);
    }
    passNanos(1_000_000_000L);
    assertThat(fired).hasSize(333).doesNotHaveDuplicates();
    List<Long> order = new ArrayList<>();
    fired.forEach(entry -> order.add(dues.get(entries.indexOf(entry))));
    assertThat(order).isSorted();
    assertThat(entries).allMatch(entry -> entry.place == Timed.NOWHERE);
  }

  /** What makes an uncontended cycle cheap: leases that come and go do not touch the scheduler. */
  @Test
  void laterEntries_doNotArmAgain() {
    Entry first = new Entry();
    timer.set(first, 10);
    int before = armed;
    for (int i = 0; i < 100; i++) {
      Entry entry = new Entry();
      timer.set(entry, 20 + i);
      timer.clear(entry);
    }
    assertThat(armed).isEqualTo(before);
  }

  /** A suspend shows on the wall clock only: deadlines are looked at within a heartbeat. */
  @Test
  void wallClockRanAhead_entriesAreTold() {
    Entry entry = new Entry();
    timer.set(entry, 60_000_000_000L);
    nanos = Timer.HEARTBEAT_NANOS;
    wallMillis = 3_600_000;
    Runnable task = wakeUp;
    assertThat(task).isNotNull();
    if (task != null) {
      wakeUp = null;
      task.run();
    }
    assertThat(jumped).containsExactly(entry);
    assertThat(fired).isEmpty();
  }

  /** What the scheduler did not take is set off by the next entry, together with that. */
  @Test
  void schedulerThatFails_isAskedAgain() {
    boolean[] fails = {true};
    Timer failing = new Timer(
        ticker,
        (task, delay) -> {
          if (fails[0]) {
            throw new IllegalStateException("for the test");
          }
          return scheduler.schedule(task, delay);
        },
        () -> {},
        late -> {});
    Entry first = new Entry();
    assertThatThrownBy(() -> failing.set(first, 5)).isInstanceOf(IllegalStateException.class);
    fails[0] = false;
    Entry second = new Entry();
    failing.set(second, 50);
    fails[0] = true;
    Entry third = new Entry();
    assertThatThrownBy(() -> failing.set(third, 2)).isInstanceOf(IllegalStateException.class);
    fails[0] = false;
    Entry fourth = new Entry();
    failing.set(fourth, 500);
    passNanos(1_000);
    assertThat(fired).containsExactly(third, first, second, fourth);
  }

  /** A process that was paused, or starved, says so, once for each wake-up that came late. */
  @Test
  void wakeUpThatComesLate_isReported() {
    List<Long> late = new ArrayList<>();
    Timer watched = new Timer(ticker, scheduler, () -> {}, late::add);
    watched.set(new Entry(), 100);
    passNanos(200);
    assertThat(late).isEmpty();
    watched.set(new Entry(), 300);
    nanos = 300 + Timer.HEARTBEAT_NANOS;
    wallMillis = nanos / 1_000_000;
    passNanos(1);
    assertThat(late).containsExactly(Timer.HEARTBEAT_NANOS);
  }

  /** Its failure is logged, and the others are due all the same. */
  @Test
  void entryThatFails_doesNotStopTheOthers() {
    Logger logger = Logger.getLogger("io.holdfast");
    List<@Nullable Throwable> logged = new ArrayList<>();
    logger.setFilter(line -> {
      logged.add(line.getThrown());
      return false;
    });
    IllegalStateException failure = new IllegalStateException("for the test");
    try {
      timer.set(
          new Timed() {
            @Override
            void due() {
              throw failure;
            }
          },
          5);
      Entry next = new Entry();
      timer.set(next, 6);
      Entry later = new Entry();
      timer.set(later, 500);
      passNanos(10);
      passNanos(1_000);
      assertThat(fired).containsExactly(next, later);
    } finally {
      logger.setFilter(null);
    }
    assertThat(logged).containsExactly(failure);
  }
}
