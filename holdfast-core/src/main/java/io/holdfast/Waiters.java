// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/**
 * The number of waiters of a lock, as far as the store knows it. If the store knows only a part of the waiters, or none, the
 * number is a lower bound.
 *
 * @param known the waiting claims that the store knows; the threads of one client count as one, except those with {@code fair}
 * @param areAll whether these are all waiters: true on Redis, Redlock, ZooKeeper, etcd and in memory; false on SQLite and
 *     SQL servers, which know the waiters with {@code fair}, and on Consul, which knows none
 */
public record Waiters(int known, boolean areAll) {
  /**
   * Checks the number.
   *
   * @throws IllegalArgumentException if it is negative
   */
  public Waiters {
    if (known < 0) {
      throw new IllegalArgumentException("known must not be negative, but is " + known);
    }
  }

  /**
   * Makes the number of a store that knows all waiters.
   *
   * @param all the number
   * @return the number, of all
   */
  public static Waiters exactly(int all) {
    return new Waiters(all, true);
  }

  /**
   * Makes the number of a store that may not know all waiters.
   *
   * @param seen the number of those that it knows
   * @return the number, beside which others may wait
   */
  public static Waiters atLeast(int seen) {
    return new Waiters(seen, false);
  }

  /**
   * Returns the number in words, for people.
   *
   * @return for example {@code 2}, {@code at least 2} or {@code unknown}
   */
  @Override
  public String toString() {
    if (areAll) {
      return Integer.toString(known);
    }
    return known == 0 ? "unknown" : "at least " + known;
  }
}
