// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

/** Something that wants to be called at a time of the monotonic clock. */
abstract class Timed {
  /** The place of an entry that is not in the {@link DueTimes}. */
  static final int NOWHERE = -1;

  /** For which time it is entered, if it is. Guarded by the timer's lock, like its place. */
  long dueNanos;

  /** Its place among the entries of that time. */
  int place = NOWHERE;

  /**
   * Called on the timer, without locks. It may have been moved or cleared meanwhile, so it looks at its own state.
   */
  abstract void due();

  /** Called when the wall clock ran ahead of the monotonic one (a suspend, a step): deadlines may be nearer. */
  void clockJumped() {}
}
