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
import java.util.stream.Collectors;

/**
 * The scripts: resources. Their contracts stand at their heads; a line {@code -- include NAME} stands for another
 * resource, so that what is seldom needed can come after a quick way out.
 */
enum RedisScript {
  ATTEMPT,
  KEEP_HELD,
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

  private static final String INCLUDE = "-- include ";

  private final String text;
  private final String sha;

  RedisScript() {
    this.text = resource(name().toLowerCase(Locale.ROOT).replace('_', '-') + ".lua");
    this.sha = sha1(text.getBytes(StandardCharsets.UTF_8));
  }

  String text() {
    return text;
  }

  /**
   * Whether it is sent with every call, and never by name. One that the server does not know by name, after a restart, is
   * sent once more, behind what was sent meanwhile: writes of one hold would overtake each other.
   */
  boolean keepsOrder() {
    return this == GUARD;
  }

  /** Returns the name by which a server knows the script. */
  String sha() {
    return sha;
  }

  private static String resource(String name) {
    try (InputStream in = RedisScript.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the jar is incomplete: " + name + " is missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(line ->
              line.startsWith(INCLUDE) ? resource(line.substring(INCLUDE.length())) : line + "\n")
          .collect(Collectors.joining());
    } catch (IOException e) {
      throw new UncheckedIOException("the jar is damaged: " + name, e);
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
