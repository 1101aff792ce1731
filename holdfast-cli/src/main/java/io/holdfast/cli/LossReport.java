// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.LossReason;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Optional;

/** Says once that the hold was lost, and why. For one hold; one thread. */
final class LossReport {
  private final Messages messages;
  private final boolean killsOnLoss;
  private final Optional<Duration> atMost;
  private boolean said;

  LossReport(Messages messages, boolean killsOnLoss, Optional<Duration> atMost) {
    this.messages = messages;
    this.killsOnLoss = killsOnLoss;
    this.atMost = atMost;
  }

  /** The hold will end in so long: the command was told to end. */
  void commandIsToldToEnd(Hold hold, Duration remaining) {
    messages.error(endsSoon(hold, remaining)
        + "the command was told to end (SIGTERM), and is killed soon after");
  }

  /** What is said of a hold that ends too soon, or has ended, for the command to begin. */
  String commandDidNotBegin(Hold hold, Duration remaining) {
    return remaining.isZero()
        ? "lost the lock \"" + hold.lockName() + "\" before the command began"
        : endsSoon(hold, remaining) + "the command did not begin";
  }

  private String endsSoon(Hold hold, Duration remaining) {
    // one that is renewed is at risk long before it ends, if the store does not renew it
    boolean isRenewed = hold.state() == HoldState.HELD;
    String why = atMost
        .filter(most -> isRenewed)
        .map(most -> "--at-most " + DurationText.of(most) + " of the lock \"" + hold.lockName()
            + "\" ends in ")
        .orElseGet(() -> "the lock \"" + hold.lockName() + "\" could not be renewed and ends in ");
    return why + DurationText.of(remaining) + ": ";
  }

  /** Says so if the hold is lost by now. */
  void whileRunning(Hold hold) {
    if (!said && hold.state() == HoldState.LOST) {
      say(
          hold,
          "",
          killsOnLoss ? "; the command is being killed" : "; the command goes on (--on-lost warn)");
    }
  }

  /** The command has ended, and the release found that the hold was not ours any more. */
  void foundAtRelease(Hold hold) {
    if (!said) {
      say(hold, " before it was given back", killsOnLoss ? "" : " (--on-lost warn)");
    }
  }

  private void say(Hold hold, String when, String then) {
    said = true;
    messages.error("lost the lock \"" + hold.lockName() + "\"" + when + why(hold) + then);
  }

  private String why(Hold hold) {
    LossReason reason = LossReason.GONE;
    if (hold.state() == HoldState.LOST) {
      try {
        hold.ensureValid();
      } catch (HoldLostException e) {
        reason = e.reason();
      }
    }
    // otherwise it was the release that the store did not find it for
    return ": "
        + (reason == LossReason.HELD_TOO_LONG && atMost.isPresent()
            ? "--at-most " + DurationText.of(atMost.get()) + " is over"
            : reason.explanation());
  }
}
