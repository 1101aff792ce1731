// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.LockKey;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/**
 * How a name reads where databases have a narrower idea of names. Other versions and programs rely on it: it never
 * changes.
 */
final class SessionKey {
  private static final int MOST_CHARS = 64;
  private static final int HASH_CHARS = 32;

  private SessionKey() {}

  /** The first 64 bits of the SHA-256 of the name's UTF-8, most significant byte first. */
  static long forPostgres(LockKey name) {
    return ByteBuffer.wrap(sha256(name)).getLong();
  }

  /**
   * At most 64 characters, none of them an upper-case letter, since MySQL and MariaDB do not tell them from others: the
   * name itself if it is such, else a prefix and 128 bits of its SHA-256.
   */
  static String forMySql(LockKey name) {
    String form = name.fit(MOST_CHARS);
    String lower = form.toLowerCase(Locale.ROOT);
    if (lower.equals(form) || !form.equals(name.name())) {
      return lower;
    }
    String prefix = lower.substring(0, Math.min(lower.length(), MOST_CHARS - HASH_CHARS - 1));
    return prefix + "~" + HexFormat.of().formatHex(sha256(name)).substring(0, HASH_CHARS);
  }

  private static byte[] sha256(LockKey name) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(name.bytes());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}
