// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Names for which something was true when last seen, and is likely to be true still. A hint, in a few kilobytes: several names
 * share a slot, which has the newest one. A wrong hint costs at most one statement.
 */
final class LikelyNames {
  private static final int SLOTS = 4096;

  private final AtomicIntegerArray hashes = new AtomicIntegerArray(SLOTS);

  void add(String name) {
    int hash = name.hashCode();
    hashes.setPlain(hash & (SLOTS - 1), hash);
  }

  void remove(String name) {
    if (contains(name)) {
      hashes.setPlain(name.hashCode() & (SLOTS - 1), 0);
    }
  }

  boolean contains(String name) {
    int hash = name.hashCode();
    return hashes.getPlain(hash & (SLOTS - 1)) == hash;
  }
}
