// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.LockInfo;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A part of a listing.
 *
 * @param locks some locks
 * @param next what to pass for the next part; empty after the last
 */
public record LockPage(List<LockInfo> locks, Optional<String> next) {
  /** Checks that nothing is null, and copies the list. */
  public LockPage {
    Objects.requireNonNull(next, "next");
    locks = List.copyOf(locks);
  }
}
