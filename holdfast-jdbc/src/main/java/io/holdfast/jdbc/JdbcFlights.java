// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.ClaimId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The attempts that are under way, by their claims, and whether the claim was granted or ended meanwhile: then the answer of
 * one that was slow must not make it wait again. Nothing is kept of a claim without an attempt under way.
 */
final class JdbcFlights {
  private final Map<ClaimId, Flight> flights = new ConcurrentHashMap<>();

  private record Flight(int attempts, boolean over) {}

  void begin(ClaimId claim) {
    flights.compute(
        claim,
        (id, known) ->
            known == null ? new Flight(1, false) : new Flight(known.attempts + 1, known.over));
  }

  void end(ClaimId claim) {
    flights.computeIfPresent(
        claim,
        (id, known) -> known.attempts == 1 ? null : new Flight(known.attempts - 1, known.over));
  }

  /** The claim was granted, or is to end. */
  void over(ClaimId claim) {
    flights.computeIfPresent(claim, (id, known) -> new Flight(known.attempts, true));
  }

  boolean isOver(ClaimId claim) {
    Flight known = flights.get(claim);
    return known != null && known.over;
  }
}
