// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Holder;
import org.jspecify.annotations.Nullable;

/** How a request ended: with a hold, busy, or failed. */
sealed interface Outcome permits EngineHold, Outcome.Busy, Outcome.Failed {
  /** Somebody else had the lock, as long as the caller was ready to wait. */
  record Busy(@Nullable Holder holder) implements Outcome {
    static final Busy UNNAMED = new Busy(null);
  }

  /** No answer that says who has the lock; or the caller withdrew. */
  record Failed(RuntimeException cause) implements Outcome {}
}
