// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.HoldState;
import io.holdfast.spi.ClaimId;

/** What the simulator sees of an engine besides its answers. Nobody looks in production. */
public interface EngineTrace {
  /**
   * A claim went from one phase to another; under the lane's lock.
   *
   * @param claim the claim
   * @param from the phase that it left: ASKING, WAITING, HELD or ENDING
   * @param to the phase that it entered; OVER when nothing of it is left anywhere and nothing can come
   */
  void claimMoved(ClaimId claim, String from, String to);

  /**
   * A hold went from one state to another; under the lane's lock.
   *
   * @param from the state that it left
   * @param to the state that it entered
   */
  void holdMoved(HoldState from, HoldState to);
}
