// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import java.util.Optional;

/** The other process of {@link SqliteConnectionErrorsTest}: tries for a lock in each of some files, and prints what it is told. */
final class SqliteLocker {
  private SqliteLocker() {}

  public static void main(String[] files) {
    for (String file : files) {
      System.out.println(tell(file));
    }
  }

  private static String tell(String file) {
    try (Holdfast one = Holdfast.connect("sqlite:" + file)) {
      Optional<Hold> hold = one.lock("lock").tryAcquire();
      hold.ifPresent(Hold::release);
      return "acquired";
    } catch (HoldfastException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
