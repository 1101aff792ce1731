// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.LossReason;

/** Says once that the hold was lost, and why. For one hold; one thread. */
final class LossReport {
  private final Messages messages;
  private final boolean killsOnLoss;
  private boolean said;

  LossReport(Messages messages, boolean killsOnLoss) {
    this.messages = messages;
    this.killsOnLoss = killsOnLoss;
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

  private static String why(Hold hold) {
    LossReason reason = LossReason.GONE;
    if (hold.state() == HoldState.LOST) {
      try {
        hold.ensureValid();
      } catch (HoldLostException e) {
        reason = e.reason();
      }
    }
    // otherwise it was the release that the store did not find it for
    return ": " + reason.explanation();
  }
}
