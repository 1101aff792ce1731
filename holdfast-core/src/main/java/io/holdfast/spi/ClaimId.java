// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import java.util.Objects;

/**
 * The unguessable id of one claim.
 *
 * @param client 128 random bits of the client, as 32 hex digits
 * @param number counts the client's claims from 1
 */
public record ClaimId(String client, long number) {
  /** Checks that the client is not null. */
  public ClaimId {
    Objects.requireNonNull(client, "client");
  }

  /**
   * Reads what {@link #toString()} wrote.
   *
   * @param text {@code client-number}
   * @return the id
   * @throws IllegalArgumentException if it is something else
   */
  public static ClaimId parse(String text) {
    Objects.requireNonNull(text, "text");
    int dash = text.lastIndexOf('-');
    if (dash < 0) {
      throw new IllegalArgumentException("no claim id: " + text);
    }
    return new ClaimId(text.substring(0, dash), Long.parseLong(text.substring(dash + 1)));
  }

  /** Returns {@code client-number}, the stored form. */
  @Override
  public String toString() {
    return client + "-" + number;
  }
}
