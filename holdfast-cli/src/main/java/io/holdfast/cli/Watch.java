// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Hold;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** Watches the command and its hold, and does what the {@link Guard} decides, until the command has ended. */
final class Watch {
  private final Hold hold;
  private final Child child;
  private final Guard guard;
  private final BlockingQueue<Event> events;
  private final Ticker ticker;
  private final SharedClock clock;
  private final LossReport losses;

  Watch(
      Hold hold,
      Child child,
      Guard guard,
      BlockingQueue<Event> events,
      Ticker ticker,
      SharedClock clock,
      LossReport losses) {
    this.hold = hold;
    this.child = child;
    this.guard = guard;
    this.events = events;
    this.ticker = ticker;
    this.clock = clock;
    this.losses = losses;
  }

  /**
   * Returns the command's status once it has ended.
   *
   * @throws CliException if the hold ends before the command has begun; then it must not begin any more
   */
  int untilEnded() throws InterruptedException {
    while (true) {
      // First this clock: what a pause between the two takes must not be added to the end.
      OptionalLong shared = clock.tenths();
      Duration remaining = hold.remaining();
      long now = ticker.nanos();
      send(guard.look(remaining, now), remaining);
      tellEnd(shared, guard.withoutUs(remaining, now));
      // Here and not when its event comes: the command that was just killed may end before that.
      losses.whileRunning(hold);
      Event event = events.poll(guard.quiet(remaining, now).toNanos(), TimeUnit.NANOSECONDS);
      if (event instanceof Event.Ended ended) {
        return ended.status();
      }
      if (event instanceof Event.Ready) {
        begin();
      }
      if (event instanceof Event.Signalled signalled) {
        Duration left = hold.remaining();
        guard.signalled(signalled.signal(), left, ticker.nanos()).forEach(child::order);
      }
    }
  }

  private void tellEnd(OptionalLong now, Optional<Duration> left) {
    if (now.isPresent() && left.isPresent()) {
      child.endBy(now.getAsLong() + left.get().toMillis() / 100);
    }
  }

  /** Looks once more: what was started may have taken long until it was ready. */
  private void begin() {
    Duration remaining = hold.remaining();
    if (guard.hasKilled()) {
      return;
    }
    if (!guard.mayBegin(remaining)) {
      throw new CliException(Exit.LOST, losses.commandDidNotBegin(hold, remaining));
    }
    child.begin(hold.token());
  }

  private void send(List<Sig> signals, Duration remaining) {
    for (Sig signal : signals) {
      child.order(signal);
      if (signal == Sig.TERM) {
        losses.commandIsToldToEnd(hold, remaining);
      }
    }
  }
}
