// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.redis.RedlockVote.Kind;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Which number to propose. It comes from the nodes' clocks, never from the client's. */
final class RedlockNumbers {
  private RedlockNumbers() {}

  /** Returns the median, the lower one of two: near enough to the clocks of a majority, whatever the others read. */
  static long median(long[] clocks) {
    long[] sorted = clocks.clone();
    Arrays.sort(sorted);
    return sorted[(sorted.length - 1) / 2];
  }

  /**
   * Returns the next number: the nodes' time, above what this claim proposed before and above what nodes have seen. A
   * last number that lies further ahead than a number may be is not followed: its node will not vote, the others can.
   *
   * @param clocks what the nodes' clocks read, in microseconds; at least one
   * @param before what this claim proposed before; zero for nothing
   * @param votes the answers to that
   * @param reach how far a number may be from a node's clock, in microseconds
   */
  static long next(long[] clocks, long before, List<@Nullable RedlockVote> votes, long reach) {
    long time = median(clocks);
    long next = Math.max(time, before + 1);
    for (RedlockVote vote : votes) {
      if (vote != null && vote.kind() == Kind.STALE && vote.number() < time + reach) {
        next = Math.max(next, vote.number() + 1);
      }
    }
    return next;
  }
}
