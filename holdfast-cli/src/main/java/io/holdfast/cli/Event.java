// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

/** What can happen while the command runs. */
sealed interface Event {
  /** The command can begin; it waits for our word. */
  record Ready() implements Event {}

  /** The command ended with this status. */
  record Ended(int status) implements Event {}

  /** We got a signal. */
  record Signalled(Sig signal) implements Event {}

  /** The hold was lost, and says why itself. */
  record Lost() implements Event {}
}
