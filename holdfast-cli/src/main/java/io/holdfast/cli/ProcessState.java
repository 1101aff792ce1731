// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the kernel says of a process, where it has {@code /proc}.
 *
 * @param state R, S, D, T, Z and so on
 * @param group its process group
 * @param session its session
 */
record ProcessState(char state, long group, long session) {
  /** Returns the state of a process; empty if it is gone, or without {@code /proc}. */
  static Optional<ProcessState> of(long pid) {
    try {
      // Bytes, because the name in brackets may be anything.
      String stat =
          Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
      // After the name: state, parent, group, session.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", 5);
      return Optional.of(new ProcessState(
          fields[0].charAt(0), Long.parseLong(fields[2]), Long.parseLong(fields[3])));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Whether a process runs; one that has ended does not, even if nobody has collected it. */
  static boolean isAlive(long pid) {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)
        && of(pid).map(known -> known.state() != 'Z').orElse(true);
  }

  /** Whether the system stops a process for Ctrl-Z; some ignore it, or do something of their own. */
  static boolean isStoppedByCtrlZ(long pid) {
    try (Stream<String> lines =
        Files.lines(Path.of("/proc/" + pid + "/status"), StandardCharsets.ISO_8859_1)) {
      long bit = 1L << (Sig.TSTP.number() - 1);
      return lines
          .filter(line -> line.startsWith("SigIgn:") || line.startsWith("SigCgt:"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .allMatch(mask -> (Long.parseUnsignedLong(mask, 16) & bit) == 0);
    } catch (IOException | UncheckedIOException e) {
      return false;
    }
  }

  /** Whether it was stopped, as by Ctrl-Z. */
  boolean isStopped() {
    return state == 'T';
  }
}
