// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import org.jspecify.annotations.Nullable;

/** Something that wants to be called at a time of the monotonic clock. */
abstract class Timed {
  /** Where it sits in the {@link DueTimes}; null outside. Guarded by the timer's lock, like its neighbours. */
  DueTimes.@Nullable Slot slot;

  @Nullable
  Timed earlier;

  @Nullable
  Timed later;

  /**
   * Called on the timer, without locks. It may have been moved or cleared meanwhile, so it looks at its own state.
   */
  abstract void due();

  /** Called when the wall clock ran ahead of the monotonic one (a suspend, a step): deadlines may be nearer. */
  void clockJumped() {}
}
