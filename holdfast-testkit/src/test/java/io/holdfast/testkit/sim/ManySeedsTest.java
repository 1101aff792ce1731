// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** More seeds than tier "fast" has time for, and others for each commit. */
@Tag("all")
class ManySeedsTest {
  private static final long SEEDS = Long.getLong("holdfast.seeds", 24_000);

  /** {@code -Dholdfast.firstSeed} repeats those of another commit. */
  @Test
  void everyInvariant_holdsInTheSeedsOfThisCommit() throws Exception {
    long first = Long.getLong("holdfast.firstSeed", seedOf(commit()));
    System.out.println("seeds " + first + " to " + (first + SEEDS - 1));
    SimulatorTest.check(first, SEEDS);
  }

  /** Seeds that hardly any other commit has; those of no commit are at the same place always. */
  private static long seedOf(String commit) {
    return commit.matches("[0-9a-f]{40,}") ? Long.parseLong(commit.substring(0, 8), 16) : 1_000_000;
  }

  /** Returns the hash of the commit that is checked out; something else where there is no Git, or no repository. */
  private static String commit() throws InterruptedException {
    try {
      Process git = new ProcessBuilder("git", "rev-parse", "HEAD")
          .redirectError(ProcessBuilder.Redirect.DISCARD)
          .start();
      String said = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return git.waitFor() == 0 ? said.strip() : "";
    } catch (IOException e) {
      return "";
    }
  }
}
