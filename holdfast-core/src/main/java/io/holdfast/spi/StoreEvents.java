// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.LossReason;

/**
 * What a store tells the engine unasked. Calls are short, never block and may come on any thread, also before the
 * attempt's own answer; an event for a claim that is over is ignored.
 */
public interface StoreEvents {
  /**
   * A waiting claim was granted.
   *
   * @param claim the claim
   * @param grant the grant
   */
  void granted(ClaimId claim, Grant grant);

  /**
   * A waiting claim may find the lock free: attempt again.
   *
   * @param claim the claim
   */
  void lookAgain(ClaimId claim);

  /** Every waiting claim should attempt again: messages may have been missed. */
  void lookAgainAll();

  /** The connection is disturbed: holds are at risk until renewed. */
  void disturbed();

  /**
   * The connection works again: renew and look again. However often the store tells this, the engine does so at most once in a
   * request's time.
   */
  void restored();

  /**
   * A held claim is certainly gone.
   *
   * @param claim the claim
   * @param reason why
   */
  void lost(ClaimId claim, LossReason reason);
}
