// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * Work to be done while a lock is held, with a result.
 *
 * @param <T> the result
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface WorkWithResult<T extends @Nullable Object, X extends Exception> {
  /**
   * Does the work.
   *
   * @param hold the hold, for its token and its validity; released by the caller after this returns or throws
   * @return the result
   * @throws X whatever the work throws
   */
  T call(Hold hold) throws X;
}
