// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.log;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What one test, or the set-up and tear-down of one class, has announced, and what was logged meanwhile. A test gets its
 * own from {@link Warnings#of}, and announces by it what no annotation can say.
 */
public final class Announcements {
  private final List<Pattern> expected = new CopyOnWriteArrayList<>();
  private final List<Pattern> allowed = new CopyOnWriteArrayList<>();
  private final Set<Pattern> seen = ConcurrentHashMap.newKeySet();
  private final List<String> unannounced = new CopyOnWriteArrayList<>();
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private volatile @Nullable String locks;

  Announcements() {}

  /**
   * Announces warnings that may come.
   *
   * @param messages regular expressions, each of which is found in the message of a warning
   */
  public void mayWarn(String... messages) {
    for (String message : messages) {
      allowed.add(Pattern.compile(message));
    }
  }

  /**
   * Announces warnings that come before the test ends.
   *
   * @param messages regular expressions, each of which is found in the message of a warning
   */
  public void warns(String... messages) {
    for (String message : messages) {
      expected.add(Pattern.compile(message));
    }
  }

  /**
   * Says which locks are the test's, where others run beside it: what is said of them counts for no other test, and what is
   * said of others' does not count for it.
   *
   * @param prefix what the names of its locks begin with, and those of no other test
   */
  public void locksBeginWith(String prefix) {
    locks = prefix;
  }

  @Nullable
  String locks() {
    return locks;
  }

  /** Takes a warning, if it was announced. */
  boolean accepts(String message) {
    boolean accepted = false;
    for (Pattern pattern : expected) {
      if (pattern.matcher(message).find()) {
        seen.add(pattern);
        accepted = true;
      }
    }
    return accepted
        || allowed.stream().anyMatch(pattern -> pattern.matcher(message).find());
  }

  void blame(String line) {
    unannounced.add(line);
  }

  /** Keeps what was logged, for a report if the test fails. */
  void keep(String line) {
    lines.add(line);
  }

  List<String> unannounced() {
    return unannounced;
  }

  List<String> lines() {
    return lines;
  }

  /** What was to come and has not. */
  List<String> missing() {
    List<String> missing = new ArrayList<>();
    for (Pattern pattern : expected) {
      if (!seen.contains(pattern)) {
        missing.add(pattern.pattern());
      }
    }
    return missing;
  }
}
