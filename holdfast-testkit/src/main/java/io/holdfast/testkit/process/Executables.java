// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Programs that tests write: {@code Executables.write(folder.resolve("work"), "#!/bin/sh\necho hi\n")}. */
public final class Executables {
  private Executables() {}

  /**
   * Writes an executable file, by a process of its own. What this JVM has open for writing, each process that it starts has
   * open too for a moment, whichever test starts it; and what is open for writing cannot be run ("text file busy").
   *
   * @param file where it goes; replaced if it is there
   * @param text what it contains
   * @throws IOException if it cannot be written, or there is no shell
   */
  public static void write(Path file, String text) throws IOException {
    Process writer = new ProcessBuilder(
            "sh", "-c", "cat >\"$0\" && chmod +x \"$0\"", file.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
    try (OutputStream to = writer.getOutputStream()) {
      to.write(text.getBytes(StandardCharsets.UTF_8));
    }
    if (writer.onExit().join().exitValue() != 0) {
      throw new IOException("cannot write " + file);
    }
  }
}
