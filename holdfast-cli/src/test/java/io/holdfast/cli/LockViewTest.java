// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holder;
import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LockViewTest {
  private static final Instant NOW = Instant.parse("2026-02-03T04:05:06Z");

  private static final LockInfo HELD = new LockInfo(
      "nightly",
      Optional.of(new Holder("holdfast", "a1", 4711, "main", "backup.sh")),
      Optional.of(NOW.minusSeconds(65)),
      Duration.ofMillis(20_250),
      9_007_199_254_740_993L,
      Optional.empty(),
      Waiters.exactly(2));

  private static final LockInfo KEPT = new LockInfo(
      "hourly\u001b[2J",
      Optional.empty(),
      Optional.empty(),
      Duration.ZERO,
      7,
      Optional.of(NOW.plusSeconds(600)),
      Waiters.exactly(0));

  @Test
  void table_locks_inColumnsWithoutControlCharacters() {
    assertThat(LockView.table(List.of(HELD, KEPT), NOW.toEpochMilli()))
        .containsExactly(
            "nightly     held by backup.sh (host a1, pid 4711) for 1 min 5 s, 2 waiting",
            "hourly [2J  kept for another 10 min after a run that succeeded (--at-least)");
  }

  /** docs/operations.md shows a line of the list as it is printed. */
  @Test
  void table_isAsOnThePage() throws IOException {
    LockInfo info = new LockInfo(
        "nightly",
        Optional.of(new Holder("holdfast", "vm", 29896, "main", "sleep")),
        Optional.of(NOW.minusMillis(4_850)),
        Duration.ofSeconds(20),
        7,
        Optional.empty(),
        Waiters.exactly(1));
    assertThat(Files.readString(Path.of("..", "docs", "operations.md")))
        .contains("`" + LockView.table(List.of(info), NOW.toEpochMilli()).get(0) + "`");
  }

  @Test
  void details_held_sayEverything() {
    assertThat(LockView.details(HELD, NOW.toEpochMilli()))
        .containsExactly(
            "lock        nightly",
            "state       held by backup.sh (host a1, pid 4711) for 1 min 5 s",
            "holder      holdfast (host a1, pid 4711, thread main): backup.sh",
            "since       2026-02-03T04:04:01Z",
            "lease left  20.2 s",
            "token       9007199254740993",
            "waiting     2");
  }

  /** A reader that takes numbers for doubles would read 9007199254740992. */
  @Test
  void json_token_isText() {
    assertThat(Json.write(LockView.json(HELD)))
        .isEqualTo(
            "{\"name\": \"nightly\", \"held\": true, \"token\": \"9007199254740993\", \"holder\":"
                + " {\"client\": \"holdfast\", \"host\": \"a1\", \"pid\": 4711, \"thread\": \"main\","
                + " \"note\": \"backup.sh\"}, \"since\": \"2026-02-03T04:04:01Z\", \"leaseLeftSeconds\": 20.250,"
                + " \"keptUntil\": null, \"waiters\": 2, \"waitersAtLeast\": 2}");
    assertThat(Json.write(LockView.json(KEPT)))
        .contains(
            "\"name\": \"hourly\\u001b[2J\"",
            "\"holder\": null",
            "\"keptUntil\": \"2026-02-03T04:15:06Z\"");
  }

  /** Where a store does not see all waiters, 0 would be a wrong answer. */
  @Test
  void waitersThatTheStoreDoesNotSee_areUnknown() {
    LockInfo unseen = waitedFor(Waiters.atLeast(0));
    assertThat(LockView.details(unseen, NOW.toEpochMilli())).contains("waiting     unknown");
    assertThat(LockView.table(List.of(unseen), NOW.toEpochMilli()).get(0))
        .doesNotContain("waiting");
    assertThat(Json.write(LockView.json(unseen)))
        .endsWith("\"waiters\": null, \"waitersAtLeast\": 0}");
    LockInfo some = waitedFor(Waiters.atLeast(2));
    assertThat(LockView.details(some, NOW.toEpochMilli())).contains("waiting     at least 2");
    assertThat(LockView.table(List.of(some), NOW.toEpochMilli()).get(0))
        .endsWith(", at least 2 waiting");
    assertThat(Json.write(LockView.json(some)))
        .endsWith("\"waiters\": null, \"waitersAtLeast\": 2}");
  }

  private static LockInfo waitedFor(Waiters waiters) {
    return new LockInfo(
        "nightly",
        HELD.holder(),
        HELD.since(),
        HELD.leaseLeft(),
        HELD.token(),
        Optional.empty(),
        waiters);
  }

  @Test
  void json_text_isEscaped() {
    assertThat(Json.write(List.of("a\"b\\c\n", "ä", "\ud83d\ude00", Map.of(), List.of())))
        .isEqualTo("[\"a\\\"b\\\\c\\u000a\", \"ä\", \"\\ud83d\\ude00\", {}, []]");
  }

  /** C1 controls drive a terminal as ESC does; the others turn the direction of what follows. */
  @Test
  void json_whatDrivesATerminal_isEscaped() {
    assertThat(Json.write(List.of("a\u007f\u0080\u009b\u009f\u00a0z")))
        .isEqualTo("[\"a\\u007f\\u0080\\u009b\\u009f\u00a0z\"]");
    assertThat(Json.write(List.of("\u061c\u200e\u200f\u2028\u202a\u202e\u2066\u2069")))
        .isEqualTo("[\"\\u061c\\u200e\\u200f\\u2028\\u202a\\u202e\\u2066\\u2069\"]");
    assertThat(Json.write(List.of("\u200d\u2027\u202f\u2065\u206a")))
        .isEqualTo("[\"\u200d\u2027\u202f\u2065\u206a\"]");
  }
}
