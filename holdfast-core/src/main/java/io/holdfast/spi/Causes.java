// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Looks among the causes of a driver's exception. They may form a cycle, so that only the first 20 count. */
public final class Causes {
  private static final int MOST = 20;

  private Causes() {}

  /**
   * Returns an exception and its causes.
   *
   * @param failure where to begin
   * @return the failure, its cause, the cause of that, and so on; one at least
   */
  public static List<Throwable> of(Throwable failure) {
    List<Throwable> causes = new ArrayList<>();
    Throwable each = Objects.requireNonNull(failure, "failure");
    while (each != null && causes.size() < MOST) {
      causes.add(each);
      each = each.getCause();
    }
    return causes;
  }

  /**
   * Returns the last of the causes.
   *
   * @param failure where to begin
   * @return the cause that has none; the failure itself if it has no cause
   */
  public static Throwable root(Throwable failure) {
    List<Throwable> causes = of(failure);
    return causes.get(causes.size() - 1);
  }

  /**
   * Finds the first exception of a type.
   *
   * @param type the type
   * @param failure where to begin; counts too
   * @param <T> the type
   * @return the failure, or the first of its causes, that is of the type; empty if none is
   */
  public static <T extends Throwable> Optional<T> find(Class<T> type, Throwable failure) {
    Objects.requireNonNull(type, "type");
    return of(failure).stream().filter(type::isInstance).findFirst().map(type::cast);
  }
}
