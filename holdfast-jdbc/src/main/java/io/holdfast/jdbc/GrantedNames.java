// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Which locks were granted when they were last asked for, so that they have a row, and nobody wanted them. A guess, in a few
 * kilobytes: names share places, the last one keeps it, and who is taken for another costs a statement that finds nothing.
 */
final class GrantedNames {
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
