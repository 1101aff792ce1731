// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** A warning that no test has announced fails the test that it belongs to, and no other. */
class WarningsTest {
  private static final Logger LOGGER = Logger.getLogger("io.holdfast");
  private static final Logger OF_A_DRIVER = Logger.getLogger("a.driver");

  @Test
  void unannounced_fails() {
    assertThat(failure("unannounced", "judged"))
        .hasValueSatisfying(
            said -> assertThat(said).contains("not announced", "lock=sample-1 lost"));
  }

  @Test
  void announced_passes() {
    assertThat(failure("announced", "judged")).isEmpty();
    assertThat(failure("allowed", "judged")).isEmpty();
    assertThat(failure("allowedAndNotGiven", "judged")).isEmpty();
  }

  /** Neither information nor what is said of the machine needs an announcement. */
  @Test
  void information_passes() {
    assertThat(failure("informed", "judged")).isEmpty();
    assertThat(failure("late", "judged")).isEmpty();
  }

  /** A program that uses the test kit is not judged unless it asks for it. */
  @Test
  void notAskedFor_isNotJudged() {
    assertThat(failure("silent", "printed")).isEmpty();
  }

  @Test
  void announcedAndNotGiven_fails() {
    assertThat(failure("silent", "judged"))
        .hasValueSatisfying(said -> assertThat(said).contains("in vain", "never given"));
  }

  /** An announced warning is missing until it comes. */
  @Test
  void announcedAndNotGiven_isMissing() {
    Announcements announcements = new Announcements();
    announcements.warns("lost: [A-Z]+", "failed");
    assertThat(announcements.missing()).containsExactly("lost: [A-Z]+", "failed");
    assertThat(announcements.accepts("lock=a lost: GONE")).isTrue();
    assertThat(announcements.accepts("something else")).isFalse();
    assertThat(announcements.missing()).containsExactly("failed");
  }

  /** Tests side by side: the owner of the lock is meant, also when it has ended. */
  @Test
  void lineOfALock_belongsToItsTest() {
    Announcements mine = opened("7-mine");
    Announcements other = opened("8-other");
    other.mayWarn("gone");

    LOGGER.warning("lock=7-mine/b token=1: gone");
    assertThat(mine.unannounced()).singleElement().asString().contains("7-mine/b");
    assertThat(other.unannounced()).isEmpty();

    LOGGER.warning("lock=8-other token=1: gone");
    Journal.only().closed(other);
    LOGGER.warning("lock=8-other token=1: gone");
    Journal.only().closed(mine);
    assertThat(mine.unannounced()).hasSize(1);
    assertThat(mine.lines()).hasSize(1);
  }

  /** What a driver warns of fails no test, and is printed with one that fails for another reason, and with no other. */
  @Test
  @ResourceLock(Resources.SYSTEM_ERR)
  void ofADriver_isPrintedWithAFailureOnly() {
    PrintStream before = System.err;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      assertThat(failure("ofADriver", "judged")).isEmpty();
      assertThat(printed.toString(StandardCharsets.UTF_8)).isEmpty();
      assertThat(failure("ofADriverInAFailure", "judged")).hasValue("for another reason");
      assertThat(printed.toString(StandardCharsets.UTF_8)).isEqualToNormalizingNewlines("""
              logged in ofADriverInAFailure():
              WARNING a.driver: cannot reconnect
              INFO a.driver: reconnected
              """);
    } finally {
      System.setErr(before);
    }
    // the console of java.util.logging keeps the stream that was there when it began
    assertThat(Logger.getLogger("").getHandlers()).containsExactly(Journal.only());
  }

  private static Announcements opened(String locks) {
    Announcements announcements = new Announcements();
    announcements.locksBeginWith(locks);
    Journal.only().opened(announcements);
    return announcements;
  }

  /** What a sample's failure said, if it failed. */
  private static Optional<String> failure(String sample, String warnings) {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
        .selectors(selectMethod(Samples.class, sample))
        .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
        .configurationParameter("holdfast.warnings", warnings)
        .configurationParameter("holdfast.warnings.patience", "100")
        .build();
    LauncherFactory.create().execute(request, listener);
    assertThat(listener.getSummary().getTestsStartedCount()).as(sample).isOne();
    return listener.getSummary().getFailures().stream()
        .map(failure -> String.valueOf(failure.getException().getMessage()))
        .findFirst();
  }

  /** Run by the tests above alone: its name does not end as a test's. */
  @ExtendWith(Named.class)
  static class Samples {
    @Test
    void unannounced() {
      LOGGER.warning("lock=sample-1 lost");
    }

    @Test
    @Warns("lost")
    void announced() {
      LOGGER.warning("lock=sample-1 lost");
    }

    @Test
    @MayWarn({"broken", "lost"})
    void allowed() {
      LOGGER.warning("lock=sample-1 lost");
    }

    @Test
    @MayWarn("lost")
    void allowedAndNotGiven() {}

    @Test
    void informed() {
      LOGGER.info("lock=sample-1 released");
    }

    @Test
    void late() {
      LOGGER.log(Level.WARNING, "the timer ran {0} ms late: the process was paused", 1_500);
    }

    @Test
    void ofADriver() {
      OF_A_DRIVER.warning("cannot reconnect");
    }

    @Test
    void ofADriverInAFailure() {
      OF_A_DRIVER.warning("cannot reconnect");
      OF_A_DRIVER.log(Level.INFO, "{0}", "reconnected");
      throw new IllegalStateException("for another reason");
    }

    @Test
    @Warns("never given")
    void silent() {}
  }

  /** Tells the samples' locks from those of the tests that run beside them. */
  static class Named implements BeforeEachCallback {
    @Override
    public void beforeEach(ExtensionContext context) {
      Warnings.of(context).locksBeginWith("sample-");
    }
  }
}
