// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

/** The signals that we act on or send. */
enum Sig {
  HUP(1),
  INT(2),
  KILL(9),
  TERM(15),
  TSTP(20),
  CONT(18);

  private final int number;

  Sig(int number) {
    this.number = number;
  }

  /** The number on Linux; HUP, INT, KILL and TERM have the same everywhere. */
  int number() {
    return number;
  }

  /** Whether it asks a program to end. */
  boolean ends() {
    return this == HUP || this == INT || this == TERM;
  }
}
