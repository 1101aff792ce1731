// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

/**
 * A promise that was broken.
 *
 * @param invariant which one, as docs/verification.md numbers them
 * @param what in words
 * @param fact where it shows
 */
record Violation(String invariant, String what, Fact fact) {
  /** One line for people; the time counts from a beginning. */
  String describe(long began) {
    StringBuilder text = new StringBuilder(invariant)
        .append(" at ")
        .append((fact.at() - began) / 1_000_000)
        .append(" ms");
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
}
