// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.util.List;
import java.util.Map;

/**
 * What a run has shown.
 *
 * @param outcome in a word
 * @param counts what happened how often, in the order for people
 * @param looks how often each invariant was looked at; 0 where there was no occasion to
 * @param violations what was broken, a line each, in the order of time
 * @param invariants the invariants that were broken, in the order of their numbers
 * @param story which process held the lock of the first violation when, at most twelve lines; empty if nothing was broken
 *     that has a lock
 * @param why the reason why nothing can be said; else empty
 */
public record Verdict(
    Outcome outcome,
    Map<String, Long> counts,
    Map<Invariant, Long> looks,
    List<String> violations,
    List<Invariant> invariants,
    List<String> story,
    String why) {
  /** In a word. */
  public enum Outcome {
    /** Nothing was broken, and there was enough to break it. */
    PASSED,
    /** Something was broken. */
    BROKEN,
    /** Nothing was broken, but nothing was tried: no grants, or no fault took effect. */
    INCONCLUSIVE
  }
}
