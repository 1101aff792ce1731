// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

/**
 * After a release while others wait, on a store where waiters look again from time to time: remembers that for one
 * interval of theirs, and keeps this process from asking meanwhile if it has had its turn.
 */
final class StayOut extends Timed {
  final boolean holdsBack;
  private final Restraint restraint;

  StayOut(Restraint restraint, boolean holdsBack) {
    this.restraint = restraint;
    this.holdsBack = holdsBack;
  }

  @Override
  void due() {
    restraint.stayedOut(this);
  }
}
