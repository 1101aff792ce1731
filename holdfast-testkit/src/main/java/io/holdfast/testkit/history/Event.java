// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.Objects;

/**
 * One thing that happened. What the fields mean depends on the {@link Kind}; what a kind does not use is empty or zero.
 *
 * @param kind what
 * @param at when, in nanoseconds of the observer's clock
 * @param process which process; -1 if it is nobody's
 * @param lock the lock's name
 * @param claim the claim that it happened to
 * @param by the claim that asked for it; or the kind of a failure
 * @param number a revision, a token, a request, a thread
 * @param other a second number
 * @param until a time of the observer's clock
 */
public record Event(
    Kind kind,
    long at,
    int process,
    String lock,
    String claim,
    String by,
    long number,
    long other,
    long until) {
  /** The {@link #other} of {@link Kind#REQUESTED}: waits without a limit. */
  public static final long WAITS = 0;

  /** The {@link #other} of {@link Kind#REQUESTED}: waits until a deadline. */
  public static final long WAITS_UNTIL = 1;

  /** The {@link #other} of {@link Kind#REQUESTED}: one attempt. */
  public static final long TRIES = 2;

  /** Checks that nothing is null. */
  public Event {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(lock, "lock");
    Objects.requireNonNull(claim, "claim");
    Objects.requireNonNull(by, "by");
  }

  /**
   * Returns the revision of the grant that a token in {@link #number} belongs to.
   *
   * @return the token without its count of local hand-overs
   */
  public long revision() {
    return number >> 8;
  }

  /**
   * Writes the event as one line of JSON. Numbers that may exceed 2^53 are strings.
   *
   * @return the line, without its end
   */
  public String toJson() {
    return "{\"kind\":\"" + kind + "\",\"at\":\"" + at + "\",\"process\":" + process + ",\"lock\":"
        + quoted(lock) + ",\"claim\":" + quoted(claim) + ",\"by\":" + quoted(by)
        + ",\"number\":\"" + number + "\",\"other\":\"" + other + "\",\"until\":\"" + until
        + "\"}";
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
