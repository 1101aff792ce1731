// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads what Redis and its clients send each other (RESP 2 and 3), one request, reply or message at a time. */
final class RespFrames {
  private final BufferedInputStream in;
  private ByteArrayOutputStream raw = new ByteArrayOutputStream();

  /** One of them. */
  static final class Frame {
    /** Where it is in the answers of {@code attempt.lua} and, for the first claim, {@code keep-held.lua}. */
    private static final int REVISION = 9;

    private final byte[] raw;
    private final char type;
    private final List<String> words;

    Frame(byte[] raw, char type, List<String> words) {
      this.raw = raw;
      this.type = type;
      this.words = words;
    }

    void writeTo(OutputStream out) throws IOException {
      out.write(raw);
    }

    /** Whether the server says it unasked. */
    boolean isPush() {
      return type == '>';
    }

    /** Returns what a script answered: the letter that its packed answer begins with, or the word behind the time. */
    String kind() {
      return words.size() == 1 ? words.get(0).substring(0, 1) : word(1);
    }

    /** Returns the revision in the packed answer of an attempt that was granted, or of a renewal. */
    long revision() {
      int begin = new String(raw, StandardCharsets.ISO_8859_1).indexOf('\n') + 1;
      return ByteBuffer.wrap(raw).order(ByteOrder.LITTLE_ENDIAN).getLong(begin + REVISION);
    }

    /** Returns one of the strings in it, an empty one behind the last. */
    String word(int index) {
      return index < words.size() ? words.get(index) : "";
    }
  }

  RespFrames(InputStream in) {
    this.in = new BufferedInputStream(in);
  }

  /** Returns the next one; fails with an {@link EOFException} at the end. */
  Frame next() throws IOException {
    raw = new ByteArrayOutputStream();
    List<String> words = new ArrayList<>();
    char type = read(words);
    return new Frame(raw.toByteArray(), type, words);
  }

  private char read(List<String> words) throws IOException {
    String line = line();
    char type = line.charAt(0);
    String rest = line.substring(1);
    switch (type) {
      case '$', '=', '!' -> {
        int length = Integer.parseInt(rest);
        if (length >= 0) {
          byte[] text = in.readNBytes(length + 2);
          raw.writeBytes(text);
          words.add(new String(text, 0, Math.max(0, text.length - 2), StandardCharsets.UTF_8));
        }
      }
      case '*', '~', '>' -> readAll(Integer.parseInt(rest), words);
      case '%', '|' -> readAll(2 * Integer.parseInt(rest), words);
      default -> words.add(rest);
    }
    return type;
  }

  private void readAll(int count, List<String> words) throws IOException {
    for (int i = 0; i < count; i++) {
      read(words);
    }
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    while (true) {
      int b = in.read();
      if (b < 0) {
        throw new EOFException();
      }
      raw.write(b);
      if (b == '\n') {
        return line.substring(0, line.length() - 1);
      }
      line.append((char) b);
    }
  }
}
