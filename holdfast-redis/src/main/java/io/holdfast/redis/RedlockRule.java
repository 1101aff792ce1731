// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * What all nodes and all clients of one set of nodes agree on.
 *
 * @param nodes how many nodes there are; odd
 * @param maxLease the longest that a vote can last; stored at the nodes
 * @param reach how far an accepted number may be from the node's clock
 */
record RedlockRule(int nodes, Duration maxLease, Duration reach) {
  static final Duration REACH = Duration.ofSeconds(10);
  static final Duration DEFAULT_MAX_LEASE = Duration.ofSeconds(60);

  private static final Duration DRIFT = Duration.ofMillis(10);

  int majority() {
    return nodes / 2 + 1;
  }

  /**
   * For how long a node that may have forgotten does not vote. After the longest lease nothing that it accepted can be
   * held; after twice the reach it accepts only numbers above all that it accepted before. Its clock may be faster than
   * the others by a hundredth.
   */
  Duration abstains() {
    Duration twice = reach.multipliedBy(2);
    return atMost(maxLease.compareTo(twice) > 0 ? maxLease : twice);
  }

  /** Returns how long what lasts for a while by one clock can last by another. */
  static Duration atMost(Duration lasts) {
    return lasts.plus(lasts.dividedBy(100)).plus(DRIFT);
  }

  long maxLeaseMicros() {
    return maxLease.toNanos() / 1000;
  }

  long reachMicros() {
    return reach.toNanos() / 1000;
  }

  long abstainsMicros() {
    return abstains().truncatedTo(ChronoUnit.MICROS).toNanos() / 1000;
  }
}
