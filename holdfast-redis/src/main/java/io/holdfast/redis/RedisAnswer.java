// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Reads the parts of a script's answer, and writes arguments: everything travels as text or bytes. The answers that every
 * acquire and every release pays for are a single part, packed: a letter, then numbers, little-endian.
 */
final class RedisAnswer {
  private static final int LETTER = 1;
  private static final byte[] NOTHING = {};

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

  /** Returns the letter of a packed answer; 0 if it is not packed. */
  static char packed(List<Object> answer) {
    byte[] only = answer.size() == 1 ? bytes(answer, 0) : NOTHING;
    return only.length > LETTER && only[0] >= 'A' ? (char) only[0] : 0;
  }

  /** Reads a number of eight bytes from a packed answer. */
  static long packedNumber(List<Object> answer, int at) {
    return ByteBuffer.wrap(bytes(answer, 0)).order(ByteOrder.LITTLE_ENDIAN).getLong(at);
  }

  static boolean packedFlag(List<Object> answer, int at) {
    return bytes(answer, 0)[at] == 1;
  }

  /** Returns the server's time, which each answer has. */
  static long now(List<Object> answer) {
    return packed(answer) == 0 ? number(answer, 0) : packedNumber(answer, LETTER);
  }

  /** Reads the answer of TIME. */
  static long micros(List<byte[]> time) {
    return Long.parseLong(string(time.get(0))) * 1_000_000 + Long.parseLong(string(time.get(1)));
  }

  static byte[] argument(long number) {
    return argument(Long.toString(number));
  }

  static byte[] argument(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
