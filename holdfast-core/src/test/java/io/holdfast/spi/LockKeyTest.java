// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names: what is one, when two are the same, and the stored form that never changes. */
class LockKeyTest {
  @ParameterizedTest
  @ValueSource(strings = {"", "a\u0000b", "a\nb", "tab\t", "\u007f", "\u0085", "\ud800", "x\udc00"})
  void badName_isRefused(String name) {
    assertThatThrownBy(() -> LockKey.of(name)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void length_countsBytesOfUtf8() {
    assertThat(LockKey.of("x".repeat(512)).name()).hasSize(512);
    assertThat(LockKey.of("é".repeat(256)).bytes()).hasSize(512);
    assertThatThrownBy(() -> LockKey.of("x".repeat(513))).hasMessageContaining("513");
    assertThatThrownBy(() -> LockKey.of("é".repeat(257))).hasMessageContaining("514");
  }

  @Test
  void equality_isOfBytes() {
    assertThat(LockKey.of("a")).isNotEqualTo(LockKey.of("A"));
    assertThat(LockKey.of("a")).isNotEqualTo(LockKey.of("a "));
    assertThat(LockKey.of("\u00e9")).isNotEqualTo(LockKey.of("e\u0301"));
    assertThat(LockKey.of("x/{y}")).isEqualTo(LockKey.of("x/{y}")).hasSameHashCodeAs("x/{y}");
  }

  /** Part of the stored format: a change here would make old and new clients miss each other. */
  @Test
  void fit_golden() {
    assertThat(LockKey.of("order:42").fit(64)).isEqualTo("order:42");
    assertThat(LockKey.of("a/b").fit(64)).isEqualTo("a_b~c14cddc033f64b9dea80ea675cf280a0");
    assertThat(LockKey.of("x".repeat(70)).fit(64))
        .startsWith("x".repeat(31) + "~")
        .hasSize(64);
  }

  @Test
  void fit_keepsNamesApart() {
    assertThat(LockKey.of("a/b").fit(64)).isNotEqualTo(LockKey.of("a{b").fit(64));
    assertThat(LockKey.of("a_b").fit(64)).isNotEqualTo(LockKey.of("a/b").fit(64));
    assertThat(LockKey.of("a~b").fit(64)).isNotEqualTo("a~b");
    assertThatThrownBy(() -> LockKey.of("a").fit(39)).isInstanceOf(IllegalArgumentException.class);
  }
}
