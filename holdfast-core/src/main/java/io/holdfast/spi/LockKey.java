// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A lock's name, checked. Two keys are equal only when the UTF-8 bytes of their names are: not by case, trailing blank
 * or Unicode form.
 */
public final class LockKey {
  /** The longest name, in bytes of UTF-8. */
  public static final int MAX_BYTES = 512;

  private static final int HASH_CHARS = 32;

  private final String name;

  private LockKey(String name) {
    this.name = name;
  }

  /**
   * Checks a name.
   *
   * @param name 1 to 512 bytes of UTF-8, no control characters
   * @return the key
   * @throws IllegalArgumentException if it is empty, too long, has control characters, or is no valid Unicode
   */
  public static LockKey of(String name) {
    Objects.requireNonNull(name, "name");
    if (name.isEmpty()) {
      throw new IllegalArgumentException("a lock's name must not be empty");
    }
    boolean ascii = true;
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (Character.isISOControl(c)) {
        throw new IllegalArgumentException(
            "a lock's name must not contain control characters (found U+"
                + HexFormat.of().withUpperCase().toHexDigits(c) + " at position " + i + ")");
      }
      ascii &= c < 0x80;
    }
    int bytes = ascii ? name.length() : utf8(name).length;
    if (bytes > MAX_BYTES) {
      throw new IllegalArgumentException("a lock's name must not be longer than " + MAX_BYTES
          + " bytes of UTF-8, this one has " + bytes);
    }
    return new LockKey(name);
  }

  private static byte[] utf8(String name) {
    try {
      ByteBuffer buffer = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(name));
      byte[] bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      return bytes;
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(
          "a lock's name must be valid Unicode (this one has an unpaired surrogate)", e);
    }
  }

  /**
   * Returns the name.
   *
   * @return as it was given
   */
  public String name() {
    return name;
  }

  /**
   * Returns the name as bytes: what equality means, and what stores should use as their key.
   *
   * @return a new array of UTF-8
   */
  public byte[] bytes() {
    // checked when it was made: nothing in it has to be replaced
    return name.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Returns a form for stores with a narrower idea of names: the name itself where all its characters are letters,
   * digits or one of {@code -_.:} and it fits, else a readable prefix, a {@code ~}, and the first 128 bits of its
   * SHA-256 in hex. The mapping is part of the stored format and never changes.
   *
   * @param maxChars how long the form may be, at least 40
   * @return ASCII; different names have different forms, as far as 128 bits of SHA-256 do
   */
  public String fit(int maxChars) {
    if (maxChars < HASH_CHARS + 8) {
      throw new IllegalArgumentException("maxChars must be at least " + (HASH_CHARS + 8));
    }
    StringBuilder plain = new StringBuilder(Math.min(name.length(), maxChars));
    boolean exact = name.length() <= maxChars;
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean ok = c < 0x80 && (Character.isLetterOrDigit(c) || "-_.:".indexOf(c) >= 0);
      exact &= ok;
      plain.append(ok ? c : '_');
    }
    if (exact) {
      return name;
    }
    int prefix = Math.min(plain.length(), maxChars - HASH_CHARS - 1);
    return plain.substring(0, prefix) + "~" + sha256(bytes()).substring(0, HASH_CHARS);
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other || (other instanceof LockKey that && name.equals(that.name));
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }

  @Override
  public String toString() {
    return name;
  }
}
