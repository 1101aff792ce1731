// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether the thread that sends a request waits for its answer anyway: a store whose driver blocks may then run the request
 * on that thread, which saves two changes of thread for each. That is so for a request of the call's own, as long as the
 * call is open and has the time, is not interrupted, and nothing is left to be done on this thread that others wait for.
 */
final class Patience {
  /** One for all engines: a thread waits for one thing at a time. */
  private static final ThreadLocal<@Nullable Patience> OF_THREAD = new ThreadLocal<>();

  private final Waits waits;
  private final @Nullable Patience outer;

  /** The request that is being sent. */
  private @Nullable Claimant asking;

  private boolean ends;

  /** How many lists of actions are being done that go on after what runs now. */
  private int inTheMiddle;

  /** Whether the store was told, for the latest request, that it may block. */
  private boolean mayBlock;

  private boolean used;

  /** What a call waits for. */
  @FunctionalInterface
  interface Waits {
    /**
     * Whether it waits for the answer to a claim's request, for as long as that may take; asked on its thread.
     *
     * @param ends whether the request is the claim's end
     */
    boolean isFor(Claimant claimant, boolean ends);
  }

  private Patience(Waits waits) {
    this.waits = waits;
    outer = OF_THREAD.get();
  }

  /** Until {@link #end()}, the calling thread waits for something. */
  static Patience begin(Waits waits) {
    Patience patience = new Patience(waits);
    OF_THREAD.set(patience);
    return patience;
  }

  /** Until {@link #end()}, the calling thread does not wait, whatever it does further out. */
  static Patience none() {
    return begin((claimant, ends) -> false);
  }

  void end() {
    OF_THREAD.set(outer);
  }

  /** Whether a store was told that it may block the thread: much time may have passed since. */
  boolean wasUsed() {
    return used;
  }

  /**
   * Sends a request of a claim.
   *
   * @param ends whether it is the claim's end
   */
  static <T> T send(Claimant claimant, boolean ends, Supplier<T> request) {
    Patience patience = OF_THREAD.get();
    if (patience == null) {
      return request.get();
    }
    if (patience.asking != null) {
      // within another request of this very thread
      patience.inTheMiddle++;
      try {
        return request.get();
      } finally {
        patience.inTheMiddle--;
      }
    }
    patience.asking = claimant;
    patience.ends = ends;
    patience.mayBlock = false;
    try {
      return request.get();
    } finally {
      patience.asking = null;
    }
  }

  /** Whether the store may have blocked the thread for the request that was sent last. */
  static boolean mayHaveBlocked() {
    Patience patience = OF_THREAD.get();
    return patience != null && patience.mayBlock;
  }

  /** Whether the store may block the thread for the request that it is just being sent. */
  static boolean lastsForARequest() {
    Patience patience = OF_THREAD.get();
    return patience != null && patience.lasts();
  }

  private boolean lasts() {
    Claimant claimant = asking;
    boolean yes = claimant != null
        && inTheMiddle == 0
        && claimant.lane.engine.requestNanos(claimant.claim)
            >= claimant.lane.engine.requestTimeoutNanos()
        && !Thread.currentThread().isInterrupted()
        && waits.isFor(claimant, ends);
    mayBlock |= yes;
    used |= yes;
    return yes;
  }

  /** Runs something that is not the last of its list: nothing in it may block. */
  static void inTheMiddle(Runnable action) {
    Patience patience = OF_THREAD.get();
    if (patience == null) {
      action.run();
      return;
    }
    patience.inTheMiddle++;
    try {
      action.run();
    } finally {
      patience.inTheMiddle--;
    }
  }
}
