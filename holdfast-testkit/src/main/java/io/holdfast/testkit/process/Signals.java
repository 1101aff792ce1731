// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** Signals to processes, sent by the shell: not every machine has a program {@code kill}. */
public final class Signals {
  private Signals() {}

  /**
   * Sends a signal, and waits until it was sent. An interrupt does not shorten that.
   *
   * @param name its name, for example {@code STOP}
   * @param pids the processes
   * @return whether all of them were there
   * @throws UncheckedIOException if there is no shell
   */
  public static boolean send(String name, List<Long> pids) {
    List<String> command = new ArrayList<>(List.of("sh", "-c", "kill -s \"$0\" -- \"$@\"", name));
    pids.forEach(each -> command.add(Long.toString(each)));
    try {
      return new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .onExit()
              .join()
              .exitValue()
          == 0;
    } catch (IOException e) {
      throw new UncheckedIOException("no shell to send a signal with", e);
    }
  }
}
