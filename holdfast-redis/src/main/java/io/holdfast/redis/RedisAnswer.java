// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** Reads the parts of a script's answer, and writes arguments: everything travels as text or bytes. */
final class RedisAnswer {
  private RedisAnswer() {}

  static byte[] bytes(List<Object> answer, int part) {
    if (answer.get(part) instanceof byte[] bytes) {
      return bytes;
    }
    throw new IllegalStateException("the server answered something else than the script says");
  }

  static String text(List<Object> answer, int part) {
    return string(bytes(answer, part));
  }

  static String string(byte[] text) {
    return new String(text, StandardCharsets.UTF_8);
  }

  /** Reads a whole number, without a detour through a double. */
  static long number(List<Object> answer, int part) {
    return Long.parseLong(text(answer, part));
  }

  static byte[] argument(long number) {
    return argument(Long.toString(number));
  }

  static byte[] argument(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
