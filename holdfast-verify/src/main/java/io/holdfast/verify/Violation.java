// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.util.Locale;

/**
 * A promise that was broken.
 *
 * @param invariant which one
 * @param what in words
 * @param fact where it shows
 */
record Violation(Invariant invariant, String what, Fact fact) {
  /** One line for people; the time counts from a beginning. */
  String describe(long began) {
    StringBuilder text =
        new StringBuilder(invariant.breach()).append(" at ").append(seconds(fact.at() - began));
    if (!fact.worker().isEmpty()) {
      text.append(", worker ").append(fact.worker());
    }
    if (!fact.lock().isEmpty()) {
      text.append(", lock ").append(fact.lock());
    }
    if (fact.token() != 0) {
      text.append(", token ").append(fact.token());
    }
    return text.append(": ").append(what).toString();
  }

  /** A time within a run, for people: {@code 2.361 s}. */
  static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.3f s", nanos / 1e9);
  }
}
