// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Holder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The holder as it is stored: client, host, pid, thread and note, one on each line, with newlines escaped. Behind them may
 * stand the tag of the channel on which its client hears of a grant.
 */
final class RedisHolder {
  /** Stands for a holder that cannot be read. */
  static final Holder UNREADABLE = new Holder("?", "?", 0, "?", "");

  private static final int PARTS = 5;

  private RedisHolder() {}

  static byte[] write(Holder holder) {
    return (escape(holder.client())
            + '\n'
            + escape(holder.host())
            + '\n'
            + holder.pid()
            + '\n'
            + escape(holder.thread())
            + '\n'
            + escape(holder.note()))
        .getBytes(StandardCharsets.UTF_8);
  }

  /** The same, with a tag. */
  static byte[] write(Holder holder, @Nullable String tag) {
    byte[] plain = write(holder);
    return tag == null ? plain : RedisAnswer.argument(RedisAnswer.string(plain) + '\n' + tag);
  }

  /** Reads what {@link #write} wrote; empty if nobody holds the lock, or it is something else: it decides nothing. */
  static Optional<Holder> read(byte[] stored) {
    String[] parts = new String(stored, StandardCharsets.UTF_8).split("\n", -1);
    if (parts.length != PARTS && parts.length != PARTS + 1) {
      return Optional.empty();
    }
    try {
      return Optional.of(new Holder(
          unescape(parts[0]),
          unescape(parts[1]),
          Long.parseLong(parts[2]),
          unescape(parts[3]),
          unescape(parts[4])));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  private static String escape(String text) {
    return text.indexOf('\n') < 0 && text.indexOf('\\') < 0
        ? text
        : text.replace("\\", "\\\\").replace("\n", "\\n");
  }

  private static String unescape(String text) {
    if (text.indexOf('\\') < 0) {
      return text;
    }
    StringBuilder plain = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\\' && i + 1 < text.length()) {
        i++;
        plain.append(text.charAt(i) == 'n' ? '\n' : text.charAt(i));
      } else {
        plain.append(c);
      }
    }
    return plain.toString();
  }
}
