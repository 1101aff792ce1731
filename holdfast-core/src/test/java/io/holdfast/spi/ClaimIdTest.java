// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClaimIdTest {
  @Test
  void parse_readsWhatWasWritten() {
    ClaimId id = new ClaimId("a-b", 12);
    assertThat(ClaimId.parse(id.toString())).isEqualTo(id);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "abc", "abc-", "abc-x"})
  void parse_somethingElse_isRefused(String text) {
    assertThatThrownBy(() -> ClaimId.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
