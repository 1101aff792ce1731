// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * A resource was asked to write and its answer never came: it may have written, or may still write a moment later, or
 * not. Nothing else is known.
 */
public final class WriteUnknownException extends HoldfastException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes an exception.
   *
   * @param message what happened
   * @param store where the resource lives, without secrets
   * @param cause the failure, or null when no answer came at all
   */
  public WriteUnknownException(String message, String store, @Nullable Throwable cause) {
    super(message, null, store, cause);
  }
}
