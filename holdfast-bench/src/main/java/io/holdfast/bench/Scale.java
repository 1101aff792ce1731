// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.time.Duration;
import java.util.List;

/**
 * How long everything is measured.
 *
 * @param warmUps how often before that, for the compiler
 * @param longestWarmUp how long each contender goes on with that at most where it wants {@link Trials#WARM_CYCLES}
 * @param trials how often each contender has its turn; the median counts
 * @param trial how long a turn is
 * @param holds how many holds are kept at once
 * @param keep how long they are kept
 * @param redisHolds how many are kept at once on a Redis server, one number after the other
 * @param storeHolds the same for other servers, which take longer to have so many acquired
 * @param waiters how many want one lock, one number after the other
 * @param locks how many locks 16 threads share out, one number after the other
 */
record Scale(
    int warmUps,
    Duration longestWarmUp,
    int trials,
    Duration trial,
    int holds,
    Duration keep,
    List<Integer> redisHolds,
    List<Integer> storeHolds,
    List<Integer> waiters,
    List<Integer> locks) {
  private static final List<Integer> ALL_WAITERS = List.of(1, 4, 16, 64, 256);
  private static final List<Integer> ALL_LOCKS = List.of(1, 16, 256);
  private static final List<Integer> MANY = List.of(10_000, 100_000);

  /** What is meant to be published; each page says what its own numbers were made with. */
  static final Scale FULL = new Scale(
      25,
      Duration.ofSeconds(15),
      15,
      Duration.ofMillis(400),
      100_000,
      Duration.ofMinutes(2),
      MANY,
      List.of(10_000),
      ALL_WAITERS,
      ALL_LOCKS);

  /** Some minutes, for somebody who changes something. */
  static final Scale QUICK = new Scale(
      25,
      Duration.ofSeconds(4),
      5,
      Duration.ofMillis(200),
      100_000,
      Duration.ofSeconds(15),
      List.of(10_000),
      List.of(),
      ALL_WAITERS,
      ALL_LOCKS);

  /** Just enough to see that everything runs, and that what is kept takes more than a heap goes up and down by itself. */
  static final Scale SMOKE = new Scale(
      0,
      Duration.ofMillis(3),
      1,
      Duration.ofMillis(3),
      10_000,
      Duration.ofMillis(20),
      List.of(300),
      List.of(100),
      List.of(1, 8),
      List.of(1, 32));

  /** Returns the same with 100,000 locks kept on every server. */
  Scale everywhereMany() {
    return new Scale(
        warmUps, longestWarmUp, trials, trial, holds, keep, redisHolds, MANY, waiters, locks);
  }

  /** Returns the same for something that resembles what was measured just before. */
  Scale warm() {
    return with(warmUps / 2, trials);
  }

  /** Returns the same for one of several sizes: it is their order that counts. */
  Scale growth() {
    return with(Math.min(1, warmUps), Math.min(3, trials));
  }

  private Scale with(int warmUpsThen, int trialsThen) {
    return new Scale(
        warmUpsThen,
        longestWarmUp,
        trialsThen,
        trial,
        holds,
        keep,
        redisHolds,
        storeHolds,
        waiters,
        locks);
  }
}
