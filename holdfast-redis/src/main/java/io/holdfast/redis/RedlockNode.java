// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.Claim;
import io.holdfast.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;

/** One of the independent servers. Its answers never fail: a failure is an answer too. */
interface RedlockNode {
  /**
   * A claim's number that was accepted by a majority.
   *
   * @param claim the claim
   * @param number the number
   */
  record Ballot(Claim claim, long number) {}

  /** Returns what the node's clock reads, in microseconds, as far as it was ever heard of. */
  OptionalLong clock();

  /**
   * Proposes a number.
   *
   * @param leftMicros from now by the node's clock, after which it must not be applied
   */
  CompletionStage<RedlockVote> attempt(Claim claim, long number, Mode mode, long leftMicros);

  /** Extends votes; an answer for each ballot, in order. */
  CompletionStage<List<RedlockReply>> keep(List<Ballot> ballots);

  /** Ends a claim up to a number. */
  CompletionStage<RedlockReply> end(Claim claim, long number, Duration keepFor);
}
