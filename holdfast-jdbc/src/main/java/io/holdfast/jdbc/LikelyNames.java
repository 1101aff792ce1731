// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Names of which something was true when it was last seen, and is likely to be true still. A guess, in a few kilobytes: several
 * names share a place, and the newest one has it. A wrong guess may cost a statement, never more.
 */
final class LikelyNames {
  private static final int PLACES = 4096;

  private final AtomicIntegerArray hashes = new AtomicIntegerArray(PLACES);

  void add(String name) {
    int hash = name.hashCode();
    hashes.setPlain(hash & (PLACES - 1), hash);
  }

  void remove(String name) {
    if (contains(name)) {
      hashes.setPlain(name.hashCode() & (PLACES - 1), 0);
    }
  }

  boolean contains(String name) {
    int hash = name.hashCode();
    return hashes.getPlain(hash & (PLACES - 1)) == hash;
  }
}
