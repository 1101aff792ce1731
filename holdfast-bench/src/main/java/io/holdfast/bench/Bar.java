// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

/**
 * What a row has to reach.
 *
 * @param what it is about
 * @param wanted how much is enough
 * @param reached how much it was
 * @param met whether that is enough
 */
record Bar(String what, String wanted, String reached, boolean met) {
  /** Ours in parts of another's has to be so much at least. */
  static Bar atLeast(double ratio, String beside, double bar) {
    return new Bar(
        "against " + beside,
        Text.of(bar < 2 ? ">= %.2f" : ">= %.0f", bar),
        Text.of("%.2f", ratio),
        ratio >= bar);
  }

  /** Ours in parts of another's may be so much at most. */
  static Bar atMost(double ratio, String beside, double bar) {
    return new Bar(
        "against " + beside,
        Text.of(bar < 0.1 ? "<= %.3f" : "<= %.2f", bar),
        Text.of(bar < 0.1 ? "%.3f" : "%.2f", ratio),
        ratio <= bar);
  }
}
