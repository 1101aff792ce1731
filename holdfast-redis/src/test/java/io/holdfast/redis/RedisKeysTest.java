// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockKey;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisKeysTest {
  private final RedisKeys keys = new RedisKeys("holdfast:");

  /** The stored form: it never changes. */
  @ParameterizedTest
  @CsvSource({
    "order:42, holdfast:{order:42}",
    "{x}, holdfast:{%7Bx%7D}",
    "}x, holdfast:{%7Dx}",
    "a%7B, holdfast:{a%257B}",
    "é, holdfast:{é}",
  })
  void key_isGolden(String name, String key) {
    byte[][] of = keys.of(LockKey.of(name));
    assertThat(new String(of[0], StandardCharsets.UTF_8)).isEqualTo(key);
    assertThat(new String(of[1], StandardCharsets.UTF_8)).isEqualTo(key + ":q");
    assertThat(new String(of[2], StandardCharsets.UTF_8)).isEqualTo(key + ":w");
  }

  /** A listing gives back what was locked. */
  @ParameterizedTest
  @ValueSource(strings = {"a", "{}", "}{", "%", "%7B", "%25", "a b", "\ud83d\udd12", ":q", "x}:w"})
  void name_comesBack(String name) {
    assertThat(keys.name(keys.of(LockKey.of(name))[0])).contains(LockKey.of(name));
  }

  /** What is not the record of a lock of ours is none. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "holdfast:{}",
        "holdfast:{a}:q",
        "holdfast:a",
        "other:{a}",
        "holdfast:{%zz}",
        "holdfast:{%41}",
        "holdfast:{a\n}",
        "holdfast:{{}",
        "",
        "holdfast:{"
      })
  void name_ofAnotherKey_isNone(String key) {
    assertThat(keys.name(key.getBytes(StandardCharsets.UTF_8))).isEmpty();
  }

  /** All keys of a lock are in one slot: the tag is what stands between the first braces, and is not empty. */
  @Test
  void hashTag_isTheName() {
    for (String name : new String[] {"}", "{", "{}", "a}b{c"}) {
      for (byte[] key : keys.of(LockKey.of(name))) {
        String text = new String(key, StandardCharsets.UTF_8);
        String tag = text.substring(text.indexOf('{') + 1, text.indexOf('}'));
        assertThat(tag).isNotEmpty();
        assertThat(text).startsWith("holdfast:{" + tag + "}");
      }
    }
  }

  /** As the driver counts slots, and so the servers: whatever braces a name has, its three keys stay together. */
  @Test
  void keysOfALock_areInOneSlot() {
    for (String name :
        new String[] {"a", "}", "{", "{}", "{}a", "a}b{c", "{a}b", "%7B", "\ud83d\udd12{"}) {
      assertThat(Stream.of(keys.of(LockKey.of(name))).map(ClusterMap::slot).distinct())
          .hasSize(1);
    }
  }

  /** Braces do not put two locks into one slot, as the cluster's users may have meant them to: names are only names. */
  @Test
  void locksWithOneTag_areNotPutTogether() {
    assertThat(ClusterMap.slot(keys.of(LockKey.of("{a}b"))[0]))
        .isNotEqualTo(ClusterMap.slot(keys.of(LockKey.of("{a}c"))[0]));
  }

  /** The keys of the check are in any slot that is wanted, together, and no lock's. */
  @Test
  void keysOfNothing_areWhereTheyAreWanted() {
    for (int slot : new int[] {0, 1, 8000, ClusterMap.SLOTS - 1}) {
      byte[][] of = keys.ofNothing(slot, key -> ClusterMap.slot(key) == slot);
      assertThat(Stream.of(of).map(ClusterMap::slot)).containsOnly(slot);
      assertThat(keys.name(of[0])).isEmpty();
    }
  }
}
