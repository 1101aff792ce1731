// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/**
 * Is told what happens to locks in this process, on the callback executor, one event at a time and in order.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.builder()
 *     .store("memory:")
 *     .listener(event -> {
 *       if (event instanceof LockEvent.Lost lost) {
 *         alarms.add(lost.lockName() + " was lost: " + lost.reason().explanation());
 *       }
 *     })
 *     .build();
 * }</pre>
 *
 * <p>What a listener throws is caught, logged and counted ({@link LockAdmin#callbackFailures()}). A client without listeners
 * makes no events.
 */
@FunctionalInterface
public interface LockListener {
  /**
   * Is told of one event.
   *
   * @param event what happened
   */
  void on(LockEvent event);
}
