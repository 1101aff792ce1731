// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/**
 * Work to be done while a lock is held.
 *
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface Work<X extends Exception> {
  /**
   * Does the work.
   *
   * @param hold the hold, for its token and its validity; released by the caller after this returns or throws
   * @throws X whatever the work throws
   */
  void run(Hold hold) throws X;
}
