// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

/** What a command was asked to print: stdout. */
final class Output {
  private Output() {}

  static void print(String line) {
    System.out.println(line);
  }
}
