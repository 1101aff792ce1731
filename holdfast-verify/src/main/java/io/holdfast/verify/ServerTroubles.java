// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.util.ArrayList;
import java.util.List;

/**
 * When a server was away, or failed over, or had its clock set forward. What a store declares of such times is no violation:
 * where a lease is counted on that clock, it may have ended early; and who gives a lock back while the server is away
 * may find, when it answers, that the lease has ended meanwhile.
 */
final class ServerTroubles {
  private final long leaseNanos;
  private final List<Long> forwardSteps = new ArrayList<>();
  private final List<Away> away = new ArrayList<>();

  private record Away(long from, long until) {}

  private ServerTroubles(long leaseNanos) {
    this.leaseNanos = leaseNanos;
  }

  /** A run on somebody else's server. */
  static ServerTroubles none() {
    return new ServerTroubles(0);
  }

  static ServerTroubles of(List<Fact> facts, VerifySettings settings) {
    ServerTroubles troubles = new ServerTroubles(settings.lease().toNanos());
    long ahead = 0;
    long gone = Long.MIN_VALUE;
    for (Fact fact : facts) {
      switch (fact.what()) {
        case STEPPED -> {
          if (settings.clockMatters() && fact.token() > ahead) {
            troubles.forwardSteps.add(fact.at());
          }
          ahead = fact.token();
        }
        case CUT, RESTARTING, FAILING_OVER -> gone = fact.at();
        case HEALED, RESTARTED, FAILED_OVER -> troubles.away.add(new Away(gone, fact.at()));
        default -> {
          // not the server's
        }
      }
    }
    return troubles;
  }

  /** Whether a step may have ended a lease that its holder believed in at this moment: not if it was renewed since. */
  boolean stepMayHaveEnded(long believedAt) {
    return endedNotBefore(believedAt) != believedAt;
  }

  /** Returns this moment, or an earlier one at which a step may have ended the lease. */
  long endedNotBefore(long believedAt) {
    return forwardSteps.stream()
        .filter(step -> step <= believedAt && step >= believedAt - leaseNanos)
        .min(Long::compare)
        .orElse(believedAt);
  }

  /** Whether the server was away at some time from a lease before this moment on. */
  boolean wasAwayBefore(long moment) {
    return away.stream().anyMatch(each -> each.from <= moment && each.until >= moment - leaseNanos);
  }
}
