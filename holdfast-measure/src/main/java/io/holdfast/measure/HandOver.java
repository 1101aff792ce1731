// SPDX-License-Identifier: Apache-2.0
package io.holdfast.measure;

import io.holdfast.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** How long a lock is on its way from one holder to the next, who waits for it already. */
public final class HandOver {
  private static final Ticker TICKER = Ticker.system();

  /** How often somebody looks whether the other one has had its turn. */
  private static final Duration LOOK = Duration.ofNanos(500_000);

  /** Counts turns of all who take part, wherever they are. */
  public interface Count {
    /** Counts one more; only whoever has the lock does so. */
    void increment();

    /**
     * Returns how many there were.
     *
     * @return by anybody
     */
    long get();
  }

  /**
   * One time that somebody had the lock, by the clock that all of the machine share.
   *
   * @param granted when it had it
   * @param released when it began to let it go
   */
  public record Turn(long granted, long released) {}

  private HandOver() {}

  /**
   * Takes the lock, has it for a turn, lets it go, and stays away until somebody else has had it: so polling does not win
   * by coming again first.
   *
   * @param lock the lock
   * @param count what the others count, too
   * @param time for how long
   * @param turn how long to have it: longer than the others need to ask for it
   * @return what turns there were
   * @throws Exception if the lock could not be taken or not be let go
   */
  public static List<Turn> take(Contention.Guard lock, Count count, Duration time, Duration turn)
      throws Exception {
    List<Turn> turns = new ArrayList<>();
    long[] at = new long[3];
    long end = TICKER.nanos() + time.toNanos();
    while (TICKER.nanos() - end < 0) {
      lock.run(() -> {
        at[0] = TICKER.nanos();
        count.increment();
        at[2] = count.get();
        pause(turn);
        at[1] = TICKER.nanos();
      });
      turns.add(new Turn(at[0], at[1]));
      while (count.get() == at[2] && TICKER.nanos() - end < 0) {
        pause(LOOK);
      }
    }
    return turns;
  }

  /** Waits for some time, without doing anything. */
  private static void pause(Duration time) {
    try {
      if (new CountDownLatch(1).await(time.toNanos(), TimeUnit.NANOSECONDS)) {
        throw new IllegalStateException("no thread counts down");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Adds the times between a release and the next grant to somebody else.
   *
   * @param turns those of each
   * @param waits where to add
   * @return how often two had the lock at once
   */
  public static long judge(List<List<Turn>> turns, Waits waits) {
    record Of(int whom, Turn turn) {}

    List<Of> all = new ArrayList<>();
    for (int i = 0; i < turns.size(); i++) {
      for (Turn turn : turns.get(i)) {
        all.add(new Of(i, turn));
      }
    }
    all.sort(Comparator.comparingLong(each -> each.turn.granted));
    long violations = 0;
    for (int i = 1; i < all.size(); i++) {
      Of before = all.get(i - 1);
      Of next = all.get(i);
      long between = next.turn.granted - before.turn.released;
      if (between < 0) {
        violations++;
      } else if (next.whom != before.whom) {
        waits.add(between);
      }
    }
    return violations;
  }
}
