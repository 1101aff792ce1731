// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import io.holdfast.spi.StoreRuntime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A timer whose tasks are run by hand, on the test's thread. */
final class Alarms implements Scheduler {
  private final List<Alarm> set = new ArrayList<>();

  /** A task, and how long it waits. */
  private record Alarm(Runnable task, long delayNanos) {}

  @Override
  public Scheduled schedule(Runnable task, long delayNanos) {
    Alarm alarm = new Alarm(task, delayNanos);
    set.add(alarm);
    return () -> set.remove(alarm);
  }

  StoreRuntime runtime() {
    return runtime(Duration.ofSeconds(2));
  }

  StoreRuntime runtime(Duration requestTimeout) {
    return new StoreRuntime(
        "0123456789abcdef0123456789abcdef", Ticker.system(), this, new Random(1), requestTimeout);
  }

  /** Returns how many tasks wait. */
  int size() {
    return set.size();
  }

  /** Returns how long the task waits that was set first. */
  Duration first() {
    return Duration.ofNanos(set.get(0).delayNanos);
  }

  /** Runs all tasks that wait now, and not those that they set. */
  void runAll() {
    List<Alarm> now = List.copyOf(set);
    set.clear();
    now.forEach(alarm -> alarm.task.run());
  }

  /** Runs the task that was set first. */
  void run() {
    set.remove(0).task.run();
  }
}
