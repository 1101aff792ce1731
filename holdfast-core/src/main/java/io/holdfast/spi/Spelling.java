// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;

/** Finds what was meant by a word that is not known, for messages that ask whether it was. */
public final class Spelling {
  /** How many letters may be wrong. */
  private static final int MOST_WRONG = 2;

  /** A shorter beginning says nothing. */
  private static final int SHORTEST_BEGINNING = 3;

  private Spelling() {}

  /**
   * Returns the known word that differs least from a word: by two letters at most that are wrong, missing, too many or
   * swapped with the next one, and by less than half of its letters; of several the alphabetically first. If there is
   * none, the one known word that begins with it, if it has three letters or more.
   *
   * @param word what was typed
   * @param known what could have been typed
   * @return what was probably meant; empty if nothing is similar enough
   */
  public static Optional<String> nearest(String word, Collection<String> known) {
    Objects.requireNonNull(word, "word");
    Objects.requireNonNull(known, "known");
    String nearest = "";
    int least = MOST_WRONG + 1;
    for (String each : new TreeSet<>(known)) {
      int distance = distance(word, each);
      if (distance < least && 2 * distance < Math.max(word.length(), each.length())) {
        nearest = each;
        least = distance;
      }
    }
    if (least <= MOST_WRONG) {
      return Optional.of(nearest);
    }
    List<String> longer = word.length() < SHORTEST_BEGINNING
        ? List.of()
        : known.stream().filter(each -> each.startsWith(word)).distinct().toList();
    return longer.size() == 1 ? Optional.of(longer.get(0)) : Optional.empty();
  }

  /** How many letters have to be changed, added, removed, or swapped with the next one. */
  private static int distance(String from, String to) {
    if (Math.abs(from.length() - to.length()) > MOST_WRONG) {
      return MOST_WRONG + 1;
    }
    int[][] cost = new int[from.length() + 1][to.length() + 1];
    for (int i = 0; i <= from.length(); i++) {
      for (int j = 0; j <= to.length(); j++) {
        if (i == 0 || j == 0) {
          cost[i][j] = i + j;
          continue;
        }
        int change = from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1;
        cost[i][j] =
            Math.min(cost[i - 1][j - 1] + change, Math.min(cost[i - 1][j], cost[i][j - 1]) + 1);
        if (i > 1
            && j > 1
            && from.charAt(i - 1) == to.charAt(j - 2)
            && from.charAt(i - 2) == to.charAt(j - 1)) {
          cost[i][j] = Math.min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
      }
    }
    return cost[from.length()][to.length()];
  }
}
