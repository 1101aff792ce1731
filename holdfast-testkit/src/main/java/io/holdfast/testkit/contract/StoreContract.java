// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/**
 * The whole contract for one store: a test class with one nested class for each suite.
 *
 * <pre>{@code
 * class MyStoreContractTest extends StoreContract {
 *   MyStoreContractTest() {
 *     super(MyStoreUnderTest::new);
 *   }
 *
 *   @Nested
 *   class Exclusion extends ExclusionContract {
 *     Exclusion() {
 *       super(MyStoreUnderTest::new);
 *     }
 *   }
 *   // ... one for each suite that the store's capabilities call for
 * }
 * }</pre>
 *
 * <p>A suite that is missing fails {@link #everySuiteIsRun}; so does one for which the store lacks the capability. Stores of
 * one kind may share a class with the suites, which theirs extend.
 */
public abstract class StoreContract {
  private final Supplier<? extends StoreUnderTest> maker;

  /**
   * Makes the contract.
   *
   * @param maker makes a store, to ask for its capabilities
   */
  protected StoreContract(Supplier<? extends StoreUnderTest> maker) {
    this.maker = maker;
  }

  /** No cell of the matrix is missing, and none is there by mistake. */
  @Test
  void everySuiteIsRun() {
    List<String> mistakes = mistakes();
    if (!mistakes.isEmpty()) {
      throw new AssertionError(getClass().getSimpleName() + ": " + String.join("; ", mistakes));
    }
  }

  /** What is missing or there by mistake, in words. */
  final List<String> mistakes() {
    Set<Class<? extends Contract>> required;
    try (StoreUnderTest store = maker.get()) {
      required = Suites.requiredWith(store.capabilities());
    }
    Set<Class<? extends Contract>> run = new LinkedHashSet<>();
    List<String> mistakes = new ArrayList<>();
    for (Class<?> nested : nested()) {
      Suites.suiteOf(nested).ifPresent(suite -> {
        if (!nested.isAnnotationPresent(Nested.class) || Modifier.isStatic(nested.getModifiers())) {
          mistakes.add(nested.getSimpleName() + " is not run: it is no @Nested inner class");
        } else if (!run.add(suite)) {
          mistakes.add(suite.getSimpleName() + " is run twice");
        } else if (!required.contains(suite)) {
          mistakes.add(suite.getSimpleName() + " needs a capability that is not declared");
        }
      });
    }
    required.stream()
        .filter(suite -> !run.contains(suite))
        .forEach(suite -> mistakes.add(suite.getSimpleName() + " is missing"));
    return mistakes;
  }

  /** The classes that are nested here, and in what this extends: stores of one kind may share them. */
  private List<Class<?>> nested() {
    List<Class<?>> nested = new ArrayList<>();
    for (@Nullable Class<?> each = getClass(); each != null; each = each.getSuperclass()) {
      nested.addAll(List.of(each.getDeclaredClasses()));
    }
    return nested;
  }
}
