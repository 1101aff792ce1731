// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.Await;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Names: two of them are one lock only if their bytes are equal, and what is no name is refused. */
abstract class NamesContract extends Contract {
  private static final Pattern OF_ANOTHER_TEST = Pattern.compile("^\\d+-");

  /** Every one of these is a lock of its own, on every store. */
  private static final List<String> DIFFERENT = List.of(
      "order",
      "Order",
      "ORDER",
      "order ",
      " order",
      "order  ",
      "order.",
      "order/",
      "/order",
      "or/der",
      "or//der",
      "or\\der",
      "..",
      "../order",
      "{order}",
      "{}order",
      "or{de}r",
      "order{",
      "order:42",
      "order%42",
      "order_42",
      "order*",
      "order?",
      "o'rder",
      "\"order\"",
      "order;--",
      "stra\u00dfe",
      "strasse",
      "STRASSE",
      "caf\u00e9",
      "cafe\u0301",
      "\u212b",
      "\u00c5",
      "A\u030a",
      "\uff4frder",
      "\u043erder",
      "order\u00a0",
      "order\u200b",
      "\ud83d\udd12",
      "\ud83d\udd13",
      "I",
      "i",
      "\u0130",
      "\u0131",
      "0",
      "00",
      "1e0",
      "1",
      "null");

  /** Case, blanks, Unicode forms and punctuation make different locks, which come back as they were. */
  @Test
  void namesThatDifferInAnyByte_areDifferentLocks() {
    Holdfast holdfast = client();
    List<Hold> holds = new ArrayList<>();
    for (String each : DIFFERENT) {
      holds.add(holdfast
          .lock(each, LONG)
          .tryAcquire()
          .orElseThrow(() -> new AssertionError("taken already: \"" + each + "\"")));
    }
    List<String> listed = listed();
    assertEquals(DIFFERENT.size(), listed.size());
    assertTrue(listed.containsAll(DIFFERENT), () -> "listed: " + listed);
    Holdfast other = client();
    for (String each : DIFFERENT) {
      assertEquals(each, inStore(each).orElseThrow().name());
      assertTrue(other.lock(each, LONG).tryAcquire().isEmpty(), each);
    }
    holds.forEach(Hold::close);
    Await.until("nothing is left in the store", () -> listed().isEmpty());
  }

  /** Returns the locks that are taken, but for those of the tests beside this one. */
  private List<String> listed() {
    return observer().admin().list("").stream()
        .filter(LockInfo::isTaken)
        .map(LockInfo::name)
        .filter(each -> !OF_ANOTHER_TEST.matcher(each).find())
        .toList();
  }

  /** The longest names are told apart by their last byte. */
  @Test
  void longestNames_areDifferentLocks() {
    Holdfast holdfast = client();
    List<String> names = List.of(
        longest("x", 1) + "a",
        longest("x", 1) + "b",
        longest("x", 1),
        longest("\u00e9", 0),
        longest("\ud83d\udd12", 0));
    List<Hold> holds = names.stream()
        .map(each -> holdfast.lock(each).tryAcquire().orElseThrow())
        .toList();
    for (String each : names) {
      assertEquals(each, inStore(each).orElseThrow().name());
    }
    holds.forEach(Hold::close);
  }

  /** Returns as much of a letter as a name has room for, but for some bytes. */
  private String longest(String letter, int less) {
    int room = LockKey.MAX_BYTES - less - name.length();
    return name + letter.repeat(room / letter.getBytes(StandardCharsets.UTF_8).length);
  }

  /** What is no name is refused before any request. */
  @Test
  void lock_badName_isRefused() {
    Holdfast holdfast = client();
    List<String> bad = List.of(
        "",
        "a\u0000b",
        "line\nbreak",
        "tab\t",
        "\u007f",
        "\u0085",
        "\ud800",
        "x\udc00y",
        "x".repeat(LockKey.MAX_BYTES + 1),
        "\u00e9".repeat(LockKey.MAX_BYTES / 2) + "x");
    for (String each : bad) {
      assertRefused(() -> holdfast.lock(each).name());
      assertRefused(() -> holdfast.lock(each, LONG).name());
      assertRefused(() -> holdfast.admin().inspect(each));
    }
  }

  private static void assertRefused(Runnable call) {
    IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, call::run);
    assertTrue(String.valueOf(refused.getMessage()).contains("name"), refused::toString);
  }
}
