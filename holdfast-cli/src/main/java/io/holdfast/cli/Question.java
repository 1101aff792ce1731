// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.Locale;

/** Yes or no, asked on the terminal before something is done that others may feel. */
final class Question {
  private Question() {}

  /** Whether there is somebody who reads it, and can answer. */
  static boolean canBeAsked() {
    return Terminal.is(0) && Terminal.is(2);
  }

  /**
   * Asks, and waits for a line.
   *
   * @param question what to ask
   * @return whether the answer begins with y; whatever else is typed, and the end of the input, is a no
   */
  static boolean isAnsweredYes(String question) {
    System.err.print(question + " [y/N] ");
    System.err.flush();
    try {
      String answer =
          new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
      return answer != null && answer.strip().toLowerCase(Locale.ROOT).startsWith("y");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Asks whether to go on, unless that is known.
   *
   * @param what what will happen: a sentence without its capital and its end
   * @param yes whether the answer is known
   * @throws CliException if the answer is no, or if there is nobody to ask
   */
  static void confirm(String what, boolean yes) {
    if (yes) {
      return;
    }
    if (!canBeAsked()) {
      throw new CliException(Exit.USAGE, what + "; if you are sure, add --yes");
    }
    String sentence = what.substring(0, 1).toUpperCase(Locale.ROOT) + what.substring(1);
    if (!isAnsweredYes(sentence + ". Go on?")) {
      throw new CliException(Exit.USAGE, "nothing was done");
    }
  }
}
