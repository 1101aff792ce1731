// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

/** What a command was asked to print: stdout. */
final class Output {
  private Output() {}

  /**
   * Prints a line. What a server or another client has put into it cannot drive the terminal.
   *
   * @throws CliException if it could not be written, as on a full disk
   */
  static void print(String line) {
    System.out.println(Failures.harmless(line));
    if (System.out.checkError()) {
      throw new CliException(
          Exit.CANNOT_CREATE, "cannot write to stdout; what it has is not complete");
    }
  }
}
