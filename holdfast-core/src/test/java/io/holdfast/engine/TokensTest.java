// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.Grant;
import org.junit.jupiter.api.Test;

/** Tokens: the revision, and eight bits for the hand-overs. */
class TokensTest {
  @Test
  void lastHandOver_isBelowTheNextRevision() {
    assertThat(Tokens.token(7, Tokens.HAND_OVER_LIMIT)).isLessThan(Tokens.token(8, 0));
    assertThat(Tokens.revision(Tokens.token(7, 255))).isEqualTo(7);
  }

  @Test
  void greatest_isPositive() {
    assertThat(Tokens.token(Grant.REVISION_LIMIT - 1, 255)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void outOfRange_isRefusedAndNeverWrapped() {
    assertThatThrownBy(() -> Tokens.token(Grant.REVISION_LIMIT, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Tokens.token(0, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Tokens.token(1, 256)).isInstanceOf(IllegalArgumentException.class);
  }
}
