// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

/**
 * An invariant that a history breaks.
 *
 * @param invariant which
 * @param index where in the history it shows
 * @param event the event there
 * @param what in words
 */
public record Violation(Invariant invariant, int index, Event event, String what) {
  @Override
  public String toString() {
    return invariant + " at event " + index + ": " + what + " " + event.toJson();
  }
}
