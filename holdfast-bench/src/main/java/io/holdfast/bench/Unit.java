// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

/** What a figure counts. */
enum Unit {
  PER_SECOND("/s", "cycles per second", true),
  MILLIS("ms", "milliseconds", false),
  CPU_SECONDS("s", "seconds of CPU", false),
  CORE_PERCENT("% of a core", "percent of a core", false),
  BYTES("B", "bytes each", false),
  COMMANDS("commands", "commands each", false),
  REQUESTS("/s", "requests per second", false);

  private final String sign;
  private final String words;
  private final boolean more;

  Unit(String sign, String words, boolean more) {
    this.sign = sign;
    this.words = words;
    this.more = more;
  }

  /** As it follows a number. */
  String sign() {
    return sign;
  }

  /** As it stands at an axis. */
  String words() {
    return words;
  }

  /** Returns how many times better the first is. */
  double better(double first, double second) {
    return more ? first / second : second / first;
  }
}
