// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

/** Ends the program with a code and one line for people. */
final class CliException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int code;
  private final String line;

  CliException(int code, String line) {
    super(line);
    this.code = code;
    this.line = line;
  }

  CliException(int code, String line, Throwable cause) {
    super(line, cause);
    this.code = code;
    this.line = line;
  }

  int code() {
    return code;
  }

  String line() {
    return line;
  }
}
