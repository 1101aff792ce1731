// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/**
 * The scripts: resources; those for locks each with {@code lock.lua} or {@code redlock.lua} in front. Their contracts
 * stand at their heads.
 */
enum RedisScript {
  ATTEMPT,
  KEEP,
  END,
  INSPECT,
  EVICT,
  CHECK,
  REDLOCK_ATTEMPT,
  REDLOCK_KEEP,
  REDLOCK_END,
  REDLOCK_INSPECT,
  REDLOCK_EVICT,
  REDLOCK_CHECK,
  GUARD,
  ONCE_ISSUE,
  ONCE_CONSUME;

  private final String text;
  private final String sha;

  RedisScript() {
    String own = name().toLowerCase(Locale.ROOT).replace('_', '-');
    this.text = head(own) + resource(own);
    this.sha = sha1(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String head(String name) {
    if (name.equals("guard") || name.startsWith("once-")) {
      return "";
    }
    return resource(name.startsWith("redlock-") ? "redlock" : "lock");
  }

  String text() {
    return text;
  }

  /** Returns the name by which a server knows the script. */
  String sha() {
    return sha;
  }

  private static String resource(String name) {
    try (InputStream in = RedisScript.class.getResourceAsStream(name + ".lua")) {
      if (in == null) {
        throw new IllegalStateException("the jar is incomplete: " + name + ".lua is missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("the jar is damaged: " + name + ".lua", e);
    }
  }

  private static String sha1(byte[] text) {
    try {
      // what Redis calls a script by; nothing is protected by it
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-1", e);
    }
  }
}
