// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What a run is judged by. The numbers are those of docs/verification.md, which says how each is looked at; a run cannot see
 * I2 apart from I1, and there is no read-write lock yet, which I11 is about.
 */
public enum Invariant {
  /** No process believes in a hold while another one has a later one. */
  I1("one holder at a time", "two holders at once"),
  /** Each token is greater than all that were given before. */
  I3("tokens only grow", "a token that is not greater than an earlier one"),
  /** The guarded resource takes no write of an earlier holder after one of a later holder. */
  I4("no late write is taken", "a late write that was taken"),
  /** Without faults, each process gets each lock in time. */
  I5("a free lock can be had", "a free lock that no process could get"),
  /** No process ends the hold of another one. */
  I6("only its holder ends a hold", "a hold that another process ended"),
  /** In the end the store has no holder and no waiter of the run. */
  I7("nothing is left in the store", "something that was left in the store"),
  /** A hold has one renewal at a time, and none after its end. */
  I8("renewals one at a time, none after the end", "a renewal that should not have been sent"),
  /** A hold that is lost stays lost, and its loss is told once. */
  I9("a loss is told once and is final", "a loss that was not told once"),
  /** A reentrant lock lets its owner in again, counts, and no other thread can unlock it. */
  I10("a reentrant lock counts", "a reentrant lock that counted wrongly"),
  /** Every process ends when it is told to, and not before. */
  I12("every process answers and ends in time", "a process that hung or died");

  private final String promise;
  private final String breach;

  Invariant(String promise, String breach) {
    this.promise = promise;
    this.breach = breach;
  }

  /**
   * Returns what holds, in words.
   *
   * @return for example {@code one holder at a time}
   */
  public String promise() {
    return promise;
  }

  /**
   * Returns what is wrong where it is broken, in words, with its number.
   *
   * @return for example {@code two holders at once (I1)}
   */
  public String breach() {
    return breach + " (" + name() + ")";
  }

  /** How often a run has looked at each; 0 where it had no occasion to, as for tokens where a protocol has none. */
  static Map<Invariant, Long> looks(List<Fact> facts) {
    Map<Invariant, Long> looks = new EnumMap<>(Invariant.class);
    boolean quiet = false;
    for (Invariant each : values()) {
      looks.put(each, 0L);
    }
    for (Fact fact : facts) {
      quiet |= fact.what() == What.QUIET;
      for (Invariant each : values()) {
        if (each.isLookedAtBy(fact, quiet)) {
          looks.merge(each, 1L, Long::sum);
        }
      }
    }
    return looks;
  }

  private boolean isLookedAtBy(Fact fact, boolean quiet) {
    return switch (this) {
      case I1 -> fact.what() == What.VALID || fact.what() == What.INVALID;
      case I3 -> fact.what() == What.ACQUIRED && fact.token() != 0;
      case I4 -> fact.what() == What.ACCEPTED || fact.what() == What.REFUSED;
      case I5 -> quiet && fact.what() == What.ACQUIRED;
      // an essay's lock does not look whose it is when it is released
      case I6 ->
        fact.token() != 0 && (fact.what() == What.RELEASED || fact.what() == What.NOT_MINE);
      case I7 -> fact.what() == What.LOOKED_FOR;
      case I8 -> fact.what() == What.RENEWED || fact.what() == What.RENEWED_WRONGLY;
      case I9 -> fact.what() == What.LOST || fact.what() == What.INVALID;
      case I10 -> fact.what() == What.REENTERED || fact.what() == What.COUNTED_WRONGLY;
      case I12 -> fact.what() == What.STARTED;
    };
  }
}
