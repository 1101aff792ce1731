// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.ClaimId;
import org.junit.jupiter.api.Test;

class JdbcFlightsTest {
  private static final ClaimId CLAIM = new ClaimId("c", 1);
  private final JdbcFlights flights = new JdbcFlights();

  /** An older attempt that is answered after a newer one was granted, or the claim ended, does not wait any more. */
  @Test
  void over_holdsForTheAttemptsThatAreUnderWay() {
    flights.begin(CLAIM);
    assertThat(flights.isOver(CLAIM)).isFalse();
    flights.begin(CLAIM);
    flights.over(CLAIM);
    flights.end(CLAIM);
    assertThat(flights.isOver(CLAIM)).isTrue();
    flights.begin(CLAIM);
    flights.end(CLAIM);
    assertThat(flights.isOver(CLAIM)).isTrue();
  }

  /** With the last attempt everything about a claim is forgotten. */
  @Test
  void end_ofTheLast_forgets() {
    flights.begin(CLAIM);
    flights.over(CLAIM);
    flights.end(CLAIM);
    assertThat(flights.isOver(CLAIM)).isFalse();
    flights.over(CLAIM);
    flights.begin(CLAIM);
    assertThat(flights.isOver(CLAIM)).isFalse();
  }
}
