// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What we know of the terminal around us. Java can tell only whether stdin and stdout both are one; the launcher says the
 * rest with {@code -Dholdfast.terminal=} and the digits of the streams that are.
 */
final class Terminal {
  private Terminal() {}

  /** Whether a stream (0, 1, 2) is a terminal. */
  static boolean is(int stream) {
    String given = System.getProperty("holdfast.terminal");
    if (given != null) {
      return given.indexOf('0' + stream) >= 0;
    }
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + stream)).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException e) {
      // no /proc, or the stream is closed
      return false;
    }
  }

  /**
   * Returns the shell that the launcher left in front of us, because it was typed at a prompt: something that Ctrl-Z can
   * stop in our place.
   */
  static Optional<Long> front() {
    return Optional.ofNullable(System.getProperty("holdfast.front")).map(Long::valueOf);
  }

  /**
   * Looks whether the job that we are part of is stopped. There is one if a shell has put us in a group of our own; then
   * our parent is in it too, as a rule: the launcher, or the script that has called us.
   */
  static Stops.Job job() {
    Optional<ProcessState> self = ProcessState.of(ProcessHandle.current().pid());
    if (self.isPresent() && self.get().group() == self.get().session()) {
      return Stops.Job.NONE;
    }
    return ProcessHandle.current()
        .parent()
        .map(ProcessHandle::pid)
        .filter(ProcessState::isStoppedByCtrlZ)
        .flatMap(ProcessState::of)
        .filter(parent -> self.isPresent() && parent.group() == self.get().group())
        .map(parent -> parent.isStopped() ? Stops.Job.STOPPED : Stops.Job.RUNNING)
        .orElse(Stops.Job.UNKNOWN);
  }
}
