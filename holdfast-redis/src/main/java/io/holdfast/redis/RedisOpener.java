// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Opens the connections of a {@link RedisLine}. */
@FunctionalInterface
interface RedisOpener<C> {
  /** Opens one; never blocks. */
  CompletionStage<C> open();

  /** Whether an application's client opens them: how long it takes for that is its own affair, and may have no end. */
  default boolean isLent() {
    return false;
  }

  /** Makes one. */
  static <C> RedisOpener<C> of(boolean lent, Supplier<CompletionStage<C>> open) {
    return new RedisOpener<>() {
      @Override
      public CompletionStage<C> open() {
        return open.get();
      }

      @Override
      public boolean isLent() {
        return lent;
      }
    };
  }
}
