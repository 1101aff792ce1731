// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/**
 * How many wait for a lock, as far as the store can tell. Some stores see only a part of those that wait, or none: then the
 * number is the least that there are, and others may wait.
 *
 * @param known how many waiting claims the store sees; the threads of one client count as one, except those with {@code fair}
 * @param areAll whether those are all that wait: true on Redis, Redlock, ZooKeeper, etcd and in memory; false on SQLite and
 *     SQL servers, which see those with {@code fair}, and on Consul, which sees none
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
   * Says how many wait, where the store sees all that do.
   *
   * @param all the number
   * @return the number, of all
   */
  public static Waiters exactly(int all) {
    return new Waiters(all, true);
  }

  /**
   * Says how many wait at least, where the store may not see all that do.
   *
   * @param seen the number of those that it sees
   * @return the number, beside which others may wait
   */
  public static Waiters atLeast(int seen) {
    return new Waiters(seen, false);
  }

  /**
   * Says it in words, for people.
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
