// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

/** Exit codes of our own; numbers of sysexits(3) where one fits, those of a shell for commands and signals. */
final class Exit {
  static final int OK = 0;

  /** {@code show}: nobody holds the lock. */
  static final int FREE = 1;

  /** {@code verify}: something was broken. */
  static final int BROKEN = 1;

  /** {@code verify}: nothing was broken, and not enough was tried or seen. */
  static final int INCONCLUSIVE = 3;

  /** The command line makes no sense. */
  static final int USAGE = 64;

  /** The store could not be reached, or its answer never came. */
  static final int UNAVAILABLE = 69;

  /** Our bug. */
  static final int BUG = 70;

  /** {@code verify}: a process could not be started or stopped, or the sentinels did not fail over. */
  static final int SYSTEM = 71;

  /** The state folder or a temporary folder could not be made. */
  static final int CANNOT_CREATE = 73;

  /** Somebody else has the lock. */
  static final int BUSY = 75;

  /** The hold was lost. */
  static final int LOST = 76;

  /** The store refused us. */
  static final int REFUSED = 77;

  /** The command is there but cannot be executed. */
  static final int NOT_EXECUTABLE = 126;

  /** There is no such command. */
  static final int NOT_FOUND = 127;

  private static final int SIGNAL = 128;

  private Exit() {}

  /** The code for what a signal ended. */
  static int of(Sig signal) {
    return SIGNAL + signal.number();
  }
}
