// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import io.holdfast.testkit.log.Warnings;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Runs the suites of a {@link StoreContract}: skips those that the store cannot be put through, gives each test a store of
 * its own, and throws that away whatever the test did.
 */
final class ContractExtension
    implements ExecutionCondition, BeforeEachCallback, AfterEachCallback, TestWatcher {
  private static final Namespace OURS = Namespace.create(ContractExtension.class);
  private static final ConditionEvaluationResult RUN = ConditionEvaluationResult.enabled("");

  /** A suite, or a suite, a dot and a test. */
  private static final String ONLY = System.getProperty("holdfast.contract", "");

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    String suite = context.getRequiredTestClass().getSimpleName();
    Optional<Method> test = context.getTestMethod();
    requireKnown();
    if (!isWanted(suite, test)) {
      return ConditionEvaluationResult.disabled("-Dholdfast.contract=" + ONLY);
    }
    // a test's class was looked at before it
    return test.isPresent() ? RUN : suite(context);
  }

  /** A misspelt name must not look like a run in which nothing failed. */
  private static void requireKnown() {
    if (ONLY.isEmpty()) {
      return;
    }
    int dot = ONLY.indexOf('.');
    String suite = dot < 0 ? ONLY : ONLY.substring(0, dot);
    boolean isKnown = Stream.of(StoreContract.class.getDeclaredClasses())
        .filter(
            each -> each.getSimpleName().equals(suite) && each.isAnnotationPresent(Nested.class))
        .flatMap(each -> Stream.of(each.getSuperclass().getDeclaredMethods()))
        .filter(method -> dot < 0 || method.getName().equals(ONLY.substring(dot + 1)))
        .anyMatch(ContractExtension::isTest);
    if (!isKnown) {
      throw new IllegalArgumentException(
          "-Dholdfast.contract=" + ONLY + ": StoreContract has no such suite or test");
    }
  }

  /** Parameterized and repeated ones, too. */
  private static boolean isTest(Method method) {
    return Stream.of(method.getAnnotations())
        .anyMatch(each -> each.annotationType().getSimpleName().endsWith("Test"));
  }

  private static boolean isWanted(String suite, Optional<Method> test) {
    if (ONLY.isEmpty() || ONLY.equals(suite)) {
      return true;
    }
    return test.map(method -> ONLY.equals(suite + "." + method.getName()))
        .orElse(ONLY.startsWith(suite + "."));
  }

  private static ConditionEvaluationResult suite(ExtensionContext context) {
    StoreContract contract = contractOf(context);
    StoreContract.Access access = contract.access();
    if (access.obstacle().isPresent()) {
      ContractMatrix.notRun(contract, access.obstacle().get());
      return ConditionEvaluationResult.disabled(access.obstacle().get());
    }
    StoreContract.Requires needs =
        context.getRequiredTestClass().getAnnotation(StoreContract.Requires.class);
    if (needs != null && !access.capabilities().contains(needs.value())) {
      return ConditionEvaluationResult.disabled("the store does not declare " + needs.value());
    }
    return RUN;
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    StoreContract contract = contractOf(context);
    StoreUnderTest store = contract.newStore();
    ExtensionContext.Store ours = context.getStore(OURS);
    ours.put(StoreUnderTest.class, store);
    ContractMatrix.began(contract, context.getRequiredTestClass().getSimpleName(), store);
    suiteOf(context).begin(store, context.getRequiredTestMethod().getName(), Warnings.of(context));
    ours.put(Contract.class, true);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    ExtensionContext.Store ours = context.getStore(OURS);
    StoreUnderTest store = ours.remove(StoreUnderTest.class, StoreUnderTest.class);
    if (store == null) {
      return;
    }
    try (store) {
      if (ours.remove(Contract.class) != null) {
        suiteOf(context).end();
      }
    }
  }

  @Override
  public void testFailed(ExtensionContext context, @Nullable Throwable cause) {
    ContractMatrix.failed(contractOf(context));
  }

  private static Contract suiteOf(ExtensionContext context) {
    return (Contract) context.getRequiredTestInstance();
  }

  /** The object around the suite; a suite that is asked for before it is made has it for its parent's. */
  private static StoreContract contractOf(ExtensionContext context) {
    return context
        .getTestInstances()
        .flatMap(instances -> instances.findInstance(StoreContract.class))
        .or(() -> context
            .getParent()
            .flatMap(ExtensionContext::getTestInstance)
            .filter(StoreContract.class::isInstance)
            .map(StoreContract.class::cast))
        .orElseThrow(() -> new IllegalStateException(
            context.getDisplayName() + " can be run only by a class that extends StoreContract"));
  }
}
