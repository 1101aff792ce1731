// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.log;

import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.opentest4j.AssertionFailedError;

/**
 * Judges what Holdfast logs while tests run: a warning that a test has not announced, with {@link Warns} or {@link MayWarn},
 * fails it, and so does an announced one that does not come. What was logged while a test ran is printed only if it fails; so is
 * what drivers log to {@code java.util.logging}, which is not judged.
 *
 * <p>Works where JUnit finds extensions by itself ({@code junit.jupiter.extensions.autodetection.enabled=true}) and
 * {@code holdfast.warnings=judged}, another configuration parameter of JUnit's, asks for it; elsewhere it does nothing.
 *
 * <p>Where tests run side by side, a line that names a lock belongs to the test that has said that the lock is its own
 * ({@link Announcements#locksBeginWith}); any other line to all tests that run, of which one must have announced it.
 */
public final class Warnings
    implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback {
  private static final Namespace OURS = Namespace.create(Warnings.class);

  /** For the service loader. */
  public Warnings() {}

  /**
   * The announcements of a test that runs.
   *
   * @param context the test's
   * @return its announcements; where nothing is judged, some that have no effect
   */
  public static Announcements of(ExtensionContext context) {
    Announcements announcements =
        context.getStore(OURS).get(context.getUniqueId(), Announcements.class);
    return announcements == null ? new Announcements() : announcements;
  }

  private static boolean isAskedFor(ExtensionContext context) {
    return context
        .getConfigurationParameter("holdfast.warnings")
        .filter("judged"::equals)
        .isPresent();
  }

  /** How long an announced warning may take: {@code holdfast.warnings.patience}, in milliseconds; else as any other state. */
  private static Duration patience(ExtensionContext context) {
    return context
        .getConfigurationParameter("holdfast.warnings.patience", Long::valueOf)
        .map(Duration::ofMillis)
        .orElse(Await.PATIENCE);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    if (isAskedFor(context)) {
      Announcements around = new Announcements();
      allow(around, context);
      context.getStore(OURS).put(context.getUniqueId(), around);
      Journal.only().openedClass(around);
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    Announcements around =
        context.getStore(OURS).remove(context.getUniqueId(), Announcements.class);
    if (around != null) {
      Journal.only().closedClass(around);
      if (context.getExecutionException().isPresent() || !around.unannounced().isEmpty()) {
        Journal.print(context.getDisplayName(), around.lines());
      }
      requireAnnounced(around);
    }
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    if (isAskedFor(context)) {
      Announcements test = new Announcements();
      Warns warns = context.getRequiredTestMethod().getAnnotation(Warns.class);
      if (warns != null) {
        test.warns(warns.value());
      }
      MayWarn may = context.getRequiredTestMethod().getAnnotation(MayWarn.class);
      if (may != null) {
        test.mayWarn(may.value());
      }
      allow(test, context);
      context.getStore(OURS).put(context.getUniqueId(), test);
      Journal.only().opened(test);
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Announcements test = context.getStore(OURS).remove(context.getUniqueId(), Announcements.class);
    if (test == null) {
      return;
    }
    boolean failed = context.getExecutionException().isPresent();
    try {
      if (!failed && test.unannounced().isEmpty()) {
        // What logs may be another thread than the one that the test waits for.
        Await.until(
            "these warnings were given: " + test.missing(),
            patience(context),
            () -> test.missing().isEmpty());
      }
    } finally {
      Journal.only().closed(test);
      if (failed || !test.unannounced().isEmpty() || !test.missing().isEmpty()) {
        Journal.print(context.getDisplayName(), test.lines());
      }
    }
    requireAnnounced(test);
  }

  private static void requireAnnounced(Announcements around) {
    List<String> unannounced = around.unannounced();
    if (!unannounced.isEmpty()) {
      throw new AssertionFailedError(
          "logged, and not announced (@Warns, @MayWarn): " + String.join("\n", unannounced));
    }
  }

  /** What the class, and those that it extends, allow in all their tests. */
  private static void allow(Announcements announcements, ExtensionContext context) {
    Class<?> each = context.getRequiredTestClass();
    while (each != null) {
      MayWarn may = each.getDeclaredAnnotation(MayWarn.class);
      if (may != null) {
        announcements.mayWarn(may.value());
      }
      each = each.getSuperclass();
    }
  }
}
