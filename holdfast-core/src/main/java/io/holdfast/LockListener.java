// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/**
 * Told what happens to locks in this process, on the callback executor, one event at a time, in order. What a listener
 * throws is caught, logged and counted ({@link LockAdmin#callbackFailures()}). Listeners cost nothing while there are
 * none.
 */
@FunctionalInterface
public interface LockListener {
  /**
   * Told of one event.
   *
   * @param event what happened
   */
  void on(LockEvent event);
}
