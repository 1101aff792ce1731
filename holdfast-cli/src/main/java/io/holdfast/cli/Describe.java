// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Holder;
import io.holdfast.LockInfo;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.time.Instant;

/** Says in words what the store says of a lock. Pure. */
final class Describe {
  private Describe() {}

  /** For example {@code held by backup.sh (host a1, pid 4711) for 12 s}. */
  static String holding(LockInfo info, long nowMillis) {
    if (info.holder().isEmpty()) {
      return info.keptUntil()
          .map(until -> "kept for another " + DurationText.of(until(until, nowMillis))
              + " after a run that succeeded (--at-least)")
          .orElse("free");
    }
    String since = info.since()
        .map(from -> " for "
            + DurationText.of(Duration.ofMillis(Math.max(0, nowMillis - from.toEpochMilli()))))
        .orElse("");
    return "held by " + holder(info.holder().get()) + since;
  }

  /** Who it is: what it runs, where. */
  static String holder(Holder holder) {
    String what = holder.note().isEmpty() ? holder.client() : holder.note();
    return Failures.oneLine(what + " (host " + holder.host() + ", pid " + holder.pid() + ")");
  }

  static Duration until(Instant then, long nowMillis) {
    return Duration.ofMillis(Math.max(0, then.toEpochMilli() - nowMillis));
  }
}
