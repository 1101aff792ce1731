// SPDX-License-Identifier: Apache-2.0
/** Measurements of locks: threads that want them, waits, hand-overs, and whether they exclude. */
module io.holdfast.measure {
  requires static org.jspecify;
  requires transitive io.holdfast.core;

  exports io.holdfast.measure;
}
