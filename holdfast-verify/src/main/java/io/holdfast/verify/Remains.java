// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** What the store still has of a run when all its clients are gone and the leases of the killed are over: a leak. */
final class Remains {
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Lets time pass. */
  @FunctionalInterface
  interface Pause {
    void pause(long nanos) throws InterruptedException;
  }

  private final Supplier<Holdfast> connect;
  private final Journal journal;
  private final Ticker ticker;
  private final Pause pause;

  Remains(Supplier<Holdfast> connect, Journal journal, Ticker ticker, Pause pause) {
    this.connect = connect;
    this.journal = journal;
    this.ticker = ticker;
    this.pause = pause;
  }

  /**
   * Looks until nothing is left, or the time is over, and then says so in the journal. Whoever restarts a server of theirs
   * meanwhile must not lose what was seen before: a store that is away is asked again, and when it has come back, the time
   * begins anew, once, as leases do on some.
   *
   * @return why nobody could look; empty if somebody could
   */
  String lookFor(Collection<String> locks, Duration within) throws InterruptedException {
    long by = ticker.nanos() + within.toNanos();
    boolean mayBeginAnew = false;
    boolean began = false;
    Deque<String> unseen = new ArrayDeque<>(locks);
    while (true) {
      try (Holdfast holdfast = connect.get()) {
        if (mayBeginAnew && !began) {
          began = true;
          by = ticker.nanos() + within.toNanos();
        }
        look(unseen, holdfast, by);
        return "";
      } catch (StoreUnavailableException e) {
        mayBeginAnew = true;
        if (ticker.nanos() - by >= 0) {
          return Objects.requireNonNullElse(e.getMessage(), e.toString());
        }
        pause.pause(LOOK_NANOS);
      }
    }
  }

  private void look(Deque<String> unseen, Holdfast holdfast, long by) throws InterruptedException {
    for (String lock = unseen.peek(); lock != null; lock = unseen.peek()) {
      boolean left = isLeft(holdfast, lock);
      if (left && ticker.nanos() - by < 0) {
        pause.pause(LOOK_NANOS);
        continue;
      }
      journal.add(Fact.of(What.LOOKED_FOR, ticker.nanos(), lock));
      if (left) {
        journal.add(Fact.of(What.LEFT_BEHIND, ticker.nanos(), "lock " + lock));
      }
      unseen.remove();
    }
  }

  private static boolean isLeft(Holdfast holdfast, String lock) {
    return holdfast
        .admin()
        .inspect(lock)
        .filter(info -> info.isTaken() || info.waiters().known() > 0)
        .isPresent();
  }
}
