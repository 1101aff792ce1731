// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingTest {
  private static final List<String> KNOWN =
      List.of("run", "ls", "show", "release", "doctor", "ddl", "verify", "bench", "--at-least");

  @ParameterizedTest
  @CsvSource({
    "rnu, run",
    "ruun, run",
    "un, run",
    "relaese, release",
    "verfy, verify",
    "doc, doctor",
    "--atleast, --at-least",
    "--at-leats, --at-least",
    "dll, ddl",
  })
  void nearest_slips_areSeen(String word, String meant) {
    assertThat(Spelling.nearest(word, KNOWN)).contains(meant);
  }

  @ParameterizedTest
  @CsvSource({"''", "x", "l", "do", "abn", "stop", "nonsense", "doctorate"})
  void nearest_otherWords_haveNone(String word) {
    assertThat(Spelling.nearest(word, KNOWN)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"redix, redis", "etcdx, etcd", "red, redis"})
  void nearest_several_isTheLeastThenTheFirst(String word, String meant) {
    assertThat(Spelling.nearest(word, List.of("redlock", "rediss", "redis", "etcds", "etcd")))
        .contains(meant);
  }
}
