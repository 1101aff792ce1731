// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.ConfigurationException;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is wrong is refused at the call, with words that say what and why, and nothing is half done. */
abstract class BadInputContract extends Contract {
  /** Durations that make no sense. */
  @Test
  void options_badDurations_areRefused() {
    for (Duration bad : List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofDays(40_000))) {
      assertNames("leaseFor", LockOptions.builder().leaseFor(bad));
      assertNames("holdAtMost", LockOptions.builder().holdAtMost(bad));
    }
    assertNames("holdAtLeast", LockOptions.builder().holdAtLeast(Duration.ofMillis(-1)));
    assertNames("holdAtLeast", LockOptions.builder().holdAtLeast(Duration.ofDays(40_000)));
  }

  /** Notes are short, and one line. */
  @Test
  void options_badNote_isRefused() {
    assertNames("note", LockOptions.builder().note("x".repeat(201)));
    assertNames("note", LockOptions.builder().note("two\nlines"));
    assertEquals(200, LockOptions.builder().note("x".repeat(200)).build().note().length());
  }

  /** All that is wrong is said at once. */
  @Test
  void options_severalProblems_areNamedTogether() {
    LockOptions.Builder bad = LockOptions.builder()
        .leaseFor(Duration.ZERO)
        .holdAtMost(Duration.ofSeconds(-1))
        .holdAtLeast(Duration.ofSeconds(-1))
        .note("\u0000");
    for (String option : List.of("leaseFor", "holdAtMost", "holdAtLeast", "note")) {
      assertNames(option, bad);
    }
  }

  /** Settings of the client that make no sense. */
  @Test
  void builder_badSettings_areRefused() {
    List<Runnable> wrong = List.of(
        () -> build(Holdfast.builder().requestTimeout(Duration.ZERO)),
        () -> build(Holdfast.builder().requestTimeout(Duration.ofMillis(-5))),
        () -> build(Holdfast.builder().connectTimeout(Duration.ZERO)),
        () -> build(Holdfast.builder().storeRetryFor(Duration.ofMillis(-5))),
        () -> build(Holdfast.builder().clientName("x".repeat(101))),
        () -> build(Holdfast.builder().clientName("two\nlines")));
    for (Runnable each : wrong) {
      RuntimeException refused = assertThrows(RuntimeException.class, each::run);
      assertTrue(
          refused instanceof IllegalArgumentException || refused instanceof ConfigurationException,
          () -> "unexpected: " + refused);
    }
    assertThrows(ConfigurationException.class, () -> Holdfast.builder().build().close());
  }

  /** The second release does nothing, and says so; nor does it touch the next hold. */
  @Test
  void release_twice_isFalse() throws Exception {
    Hold first = client().lock(name, LONG).acquire();
    assertTrue(first.release());
    assertFalse(first.release());
    assertFalse(first.releaseNow());
    first.close();
    try (Hold second = client().lock(name, LONG).acquire()) {
      assertFalse(first.release());
      first.close();
      assertTrue(isTaken());
      assertTrue(second.isValid());
    }
  }

  private void build(Holdfast.Builder builder) {
    builder.store(store().open()).build().close();
  }

  private static void assertNames(String option, LockOptions.Builder builder) {
    IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, builder::build);
    assertTrue(String.valueOf(refused.getMessage()).contains(option), refused::toString);
  }
}
