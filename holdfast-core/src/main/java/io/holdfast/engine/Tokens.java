// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.spi.Grant;

/** Tokens: {@code revision << 8 | n}, n counting the local hand-overs of one grant. */
final class Tokens {
  static final int HAND_OVER_LIMIT = 255;

  private Tokens() {}

  static long token(long revision, int handOvers) {
    if (revision <= 0
        || revision >= Grant.REVISION_LIMIT
        || handOvers < 0
        || handOvers > HAND_OVER_LIMIT) {
      throw new IllegalArgumentException(
          "out of range: revision " + revision + ", hand-overs " + handOvers);
    }
    return revision << 8 | handOvers;
  }

  static long revision(long token) {
    return token >>> 8;
  }
}
