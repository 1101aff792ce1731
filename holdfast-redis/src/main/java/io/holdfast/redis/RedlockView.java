// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Holder;
import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What one node has of a lock.
 *
 * @param number the number that it accepted
 * @param claim of whom; empty for nobody
 * @param leftMicros how long the vote is taken; not positive if it is free
 * @param untilMicros the same by the node's clock
 * @param sinceMicros since when, by the node's clock
 * @param holder who that is
 * @param waiters how many wait
 * @param failure why nothing is known; null if the node answered
 */
record RedlockView(
    long number,
    String claim,
    long leftMicros,
    long untilMicros,
    long sinceMicros,
    Optional<Holder> holder,
    int waiters,
    @Nullable Throwable failure) {
  private static final int HAND_OVER_BITS = 8;

  private record Vote(String claim, long number) {}

  static RedlockView failed(Throwable failure) {
    return new RedlockView(0, "", 0, 0, 0, Optional.empty(), 0, failure);
  }

  /** Reads the answer of {@code redlock-inspect.lua}. */
  static RedlockView read(List<Object> answer) {
    long until = RedisAnswer.number(answer, 3);
    return new RedlockView(
        RedisAnswer.number(answer, 1),
        RedisAnswer.text(answer, 2),
        until - RedisAnswer.number(answer, 0),
        until,
        RedisAnswer.number(answer, 4),
        RedisHolder.read(RedisAnswer.bytes(answer, 5)),
        Math.toIntExact(RedisAnswer.number(answer, 6)),
        null);
  }

  /**
   * Puts together what is known of a lock.
   *
   * @param views the views of the nodes; null for one that did not answer
   * @return empty if no claim has, or may have, a majority, and nobody waits
   */
  static Optional<LockInfo> together(String name, List<@Nullable RedlockView> views) {
    Map<Vote, List<RedlockView>> taken = new HashMap<>();
    int unheard = 0;
    for (RedlockView view : views) {
      if (view == null || view.failure != null) {
        unheard++;
      } else if (view.leftMicros > 0) {
        taken
            .computeIfAbsent(new Vote(view.claim, view.number), vote -> new ArrayList<>())
            .add(view);
      }
    }
    int missing = views.size() / 2 + 1 - unheard;
    Optional<List<RedlockView>> most =
        taken.values().stream().max(Comparator.comparingInt(List::size));
    int waiters = waiters(views);
    if (most.isPresent() && most.get().size() >= missing) {
      return Optional.of(taken(name, most.get(), waiters));
    }
    return waiters == 0
        ? Optional.empty()
        : Optional.of(new LockInfo(
            name,
            Optional.empty(),
            Optional.empty(),
            Duration.ZERO,
            0,
            Optional.empty(),
            Waiters.exactly(waiters)));
  }

  private static LockInfo taken(String name, List<RedlockView> votes, int waiters) {
    RedlockView longest =
        votes.stream().max(Comparator.comparingLong(RedlockView::leftMicros)).orElseThrow();
    long token = longest.number << HAND_OVER_BITS;
    if (longest.claim.isEmpty()) {
      return new LockInfo(
          name,
          Optional.empty(),
          Optional.empty(),
          Duration.ZERO,
          token,
          Optional.of(RedisClock.instant(longest.untilMicros)),
          Waiters.exactly(waiters));
    }
    return new LockInfo(
        name,
        longest.holder.or(() -> Optional.of(RedisHolder.UNREADABLE)),
        Optional.of(RedisClock.instant(longest.sinceMicros)),
        Duration.of(longest.leftMicros, ChronoUnit.MICROS),
        token,
        Optional.empty(),
        Waiters.exactly(waiters));
  }

  /** A waiter asks all nodes; one that is late with it, or forgot a waiter that it told, decides nothing. */
  private static int waiters(List<@Nullable RedlockView> views) {
    int[] counts = views.stream()
        .filter(Objects::nonNull)
        .filter(view -> view.failure == null)
        .mapToInt(RedlockView::waiters)
        .sorted()
        .toArray();
    return counts.length == 0 ? 0 : counts[(counts.length - 1) / 2];
  }
}
