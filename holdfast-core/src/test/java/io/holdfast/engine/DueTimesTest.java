// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The entries of the timer, in the order in which they are due. */
class DueTimesTest {
  private static final class Entry extends Timed {
    private boolean in;
    private long at;
    private int since;

    @Override
    void due() {}
  }

  private final DueTimes times = new DueTimes();
  private final List<Entry> entries = new ArrayList<>();

  /** Whatever is set, moved, removed and taken: what is taken is what a sorted list would give. Also across the overflow. */
  @Test
  void behavesAsASortedList() {
    SplittableRandom random = new SplittableRandom(42);
    for (int i = 0; i < 50; i++) {
      entries.add(new Entry());
    }
    long now = Long.MAX_VALUE - 20_000;
    for (int step = 0; step < 20_000; step++) {
      Entry entry = entries.get(random.nextInt(entries.size()));
      switch (random.nextInt(8)) {
        case 0, 1 -> {
          times.remove(entry);
          entry.in = false;
        }
        case 2 -> {
          now += random.nextInt(60);
          take(now);
        }
        default -> set(entry, now + random.nextInt(40), step);
      }
      assertThat(times.all())
          .hasSameElementsAs(entries.stream().filter(e -> e.in).toList());
    }
  }

  private void set(Entry entry, long at, int step) {
    times.set(entry, at);
    if (!entry.in || entry.at != at) {
      entry.since = step;
    }
    entry.in = true;
    entry.at = at;
  }

  private void take(long now) {
    List<Entry> due = entries.stream()
        .filter(entry -> entry.in && entry.at - now <= 0)
        .sorted(Comparator.<Entry>comparingLong(entry -> entry.at - now)
            .thenComparingInt(entry -> entry.since))
        .toList();
    assertThat(times.takeDue(now)).isEqualTo(due);
    due.forEach(entry -> entry.in = false);
    assertThat(times.isEmpty() || times.firstDue() - now > 0).isTrue();
  }

  /** What is set for a time that has just been taken is due at once, and not forgotten with what was taken. */
  @Test
  void set_forATimeThatWasTaken_isDue() {
    Entry first = new Entry();
    times.set(first, 10);
    assertThat(times.takeDue(10)).containsExactly(first);
    Entry second = new Entry();
    times.set(second, 10);
    assertThat(times.takeDue(10)).containsExactly(second);
  }

  /** A lock that is taken and released leaves nothing, however often: of many times that nobody is at, one at most stays. */
  @Test
  void remove_leavesNoTime() {
    for (int due = 0; due < 100; due++) {
      entries.add(new Entry());
      times.set(entries.get(due), due);
    }
    entries.forEach(times::remove);
    Entry last = new Entry();
    times.set(last, 1_000);
    assertThat(times.all()).containsExactly(last);
    assertThat(times.firstDue()).isEqualTo(1_000);
  }

  @Test
  void clear_forgetsAll() {
    for (int i = 0; i < 100; i++) {
      Entry entry = new Entry();
      entries.add(entry);
      times.set(entry, i / 10);
    }
    times.clear();
    assertThat(times.isEmpty()).isTrue();
    assertThat(times.takeDue(1_000)).isEmpty();
    assertThat(entries).allMatch(entry -> entry.place == Timed.NOWHERE);
  }
}
