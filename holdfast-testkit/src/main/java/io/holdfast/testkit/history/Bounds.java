// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

/**
 * In which time things must have happened, in nanoseconds.
 *
 * @param wakeWithin how long a lock may be free while somebody waits for it
 * @param deadWaiter what a waiter that has died may cost
 * @param settleWithin how long after the faults' end the bounds begin to hold
 * @param tellWithin how long after its end a hold's loss must have been told
 * @param answerWithin how long after its deadline a request must have been answered
 * @param tryWithin how long one attempt may take
 * @param finalByTime whether the store applies nothing after a while, so that a process may be done with a claim whose
 *     end it never heard of; otherwise it is, but what is left ends with its lease or when it is reconciled
 */
public record Bounds(
    long wakeWithin,
    long deadWaiter,
    long settleWithin,
    long tellWithin,
    long answerWithin,
    long tryWithin,
    boolean finalByTime) {}
