// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.util.regex.Pattern;

/**
 * One thing that happened.
 *
 * @param what what
 * @param at when, in nanoseconds of the machine's monotonic clock, which is one for all its processes
 * @param worker the worker, and which life of it: {@code 3.1} is the second process of the fourth worker; empty for nobody
 * @param lock the lock's name; empty if none is meant
 * @param hold the request's number, within the process; 0 if none is meant
 * @param token the hold's token; 0 if the protocol has none
 * @param text more, in words
 */
record Fact(What what, long at, String worker, String lock, long hold, long token, String text) {
  private static final Pattern TAB = Pattern.compile("\t");
  private static final int FIELDS = 7;

  /** A fact about the whole run. */
  static Fact of(What what, long at, String text) {
    return new Fact(what, at, "", "", 0, 0, text);
  }

  /** A fact about a process. */
  static Fact of(What what, long at, String worker, String text) {
    return new Fact(what, at, worker, "", 0, 0, text);
  }

  /** Names the hold among those of all processes. */
  String key() {
    return worker + "#" + hold;
  }

  /** For the pipe between processes. */
  String toLine() {
    return what + "\t" + at + "\t" + worker + "\t" + lock + "\t" + hold + "\t" + token + "\t"
        + text.replace('\t', ' ').replace('\n', ' ').replace('\r', ' ');
  }

  /**
   * Reads what {@link #toLine} has written.
   *
   * @throws IllegalArgumentException if it is something else
   */
  static Fact ofLine(String line) {
    String[] fields = TAB.split(line, -1);
    if (fields.length != FIELDS) {
      throw new IllegalArgumentException("not a fact: " + line);
    }
    return new Fact(
        What.valueOf(fields[0]),
        Long.parseLong(fields[1]),
        fields[2],
        fields[3],
        Long.parseLong(fields[4]),
        Long.parseLong(fields[5]),
        fields[6]);
  }

  /** One line of JSON, without its end. Numbers that may exceed 2^53 are strings. */
  String toJson() {
    return "{\"what\":\"" + what + "\",\"at\":\"" + at + "\",\"worker\":" + Json.quoted(worker)
        + ",\"lock\":" + Json.quoted(lock) + ",\"hold\":" + hold + ",\"token\":\"" + token
        + "\",\"text\":" + Json.quoted(text) + "}";
  }
}
