// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What {@code run} was asked to do, checked.
 *
 * @param store which store
 * @param lockName the lock
 * @param command the command and its arguments, at least one
 * @param waitAtMost zero for one attempt; empty for ever
 * @param busyExit the exit code when somebody else has the lock; with 0, nothing is said
 * @param options how to hold
 * @param plan when to end the command
 * @param killsOnLoss false with {@code --on-lost warn}
 */
record RunSettings(
    StoreOption store,
    String lockName,
    List<String> command,
    Optional<Duration> waitAtMost,
    int busyExit,
    LockOptions options,
    KillPlan plan,
    boolean killsOnLoss) {
  RunSettings {
    command = List.copyOf(command);
  }
}
