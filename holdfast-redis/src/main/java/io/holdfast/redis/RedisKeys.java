// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.LockKey;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The keys of a lock: the prefix and the name in curly braces, and the same with {@code :q} and {@code :w}. What is
 * between the braces is the hash tag, so that in a cluster they are in one slot. In the name, the braces and {@code %}
 * are written as {@code %7B}, {@code %7D} and {@code %25}; all other bytes as they are. The mapping is part of the
 * stored format.
 */
final class RedisKeys {
  /** So many numbers hit every slot of a cluster, but for a chance that does not matter. */
  private static final int TRIED = 300_000;

  private final byte[] prefix;
  private final byte[] channel;

  RedisKeys(String prefix) {
    this.prefix = ascii(prefix);
    this.channel = ascii(prefix + "client:");
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the keys of a lock, in the order in which the scripts want them. */
  byte[][] of(LockKey name) {
    byte[] key = key(name.bytes());
    return new byte[][] {key, with(key, 'q'), with(key, 'w')};
  }

  /** Returns the first of these alone. */
  byte[] record(LockKey name) {
    return key(name.bytes());
  }

  /** Returns keys that no lock has: no name is empty. */
  byte[][] ofNothing() {
    byte[] key = with(key(new byte[0]), 'c');
    return new byte[][] {key, with(key, 'q'), with(key, 'w')};
  }

  /** Returns the key of a Redlock node's marker. */
  byte[] marker() {
    return with(key(new byte[0]), 'm');
  }

  /** Returns keys that no lock has, all in one slot, and in one that is wanted. */
  byte[][] ofNothing(long from, Predicate<byte[]> wanted) {
    byte[] key = with(key(ascii(Long.toString(from))), 'c');
    for (long i = from; i < from + TRIED && !wanted.test(key); i++) {
      key = with(key(ascii(Long.toString(i))), 'c');
    }
    return new byte[][] {key, with(key, 'q'), with(key, 'w')};
  }

  /** Returns what the channels begin with; the client's id follows. */
  byte[] channel() {
    return channel;
  }

  byte[] channelOf(String client) {
    return join(channel, ascii(client));
  }

  private static byte[] with(byte[] key, char part) {
    return join(key, new byte[] {':', (byte) part});
  }

  private static byte[] join(byte[] one, byte[] other) {
    byte[] both = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, both, one.length, other.length);
    return both;
  }

  private byte[] key(byte[] name) {
    for (byte b : name) {
      if (isEscaped(b)) {
        return escapedKey(name);
      }
    }
    // made for each request: nearly all names are written as they are
    byte[] key = Arrays.copyOf(prefix, prefix.length + name.length + 2);
    key[prefix.length] = '{';
    System.arraycopy(name, 0, key, prefix.length + 1, name.length);
    key[key.length - 1] = '}';
    return key;
  }

  private byte[] escapedKey(byte[] name) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(prefix.length + name.length + 8);
    out.writeBytes(prefix);
    out.write('{');
    writeEscaped(name, out);
    out.write('}');
    return out.toByteArray();
  }

  private static boolean isEscaped(byte b) {
    return b == '{' || b == '}' || b == '%';
  }

  private static void writeEscaped(byte[] name, ByteArrayOutputStream out) {
    for (byte b : name) {
      if (isEscaped(b)) {
        out.writeBytes(ascii("%" + HexFormat.of().toHexDigits(b).toUpperCase(Locale.ROOT)));
      } else {
        out.write(b);
      }
    }
  }

  /** Returns the glob that finds the records of names with a prefix, and nothing else of a lock. */
  String pattern(String namePrefix) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(prefix);
    out.write('{');
    writeEscaped(ascii(namePrefix), out);
    StringBuilder glob = new StringBuilder();
    for (char c : out.toString(StandardCharsets.UTF_8).toCharArray()) {
      if ("*?[]\\^".indexOf(c) >= 0) {
        glob.append('\\');
      }
      glob.append(c);
    }
    return glob.append("*}").toString();
  }

  /** Returns the name of the lock that a key is the record of; empty if it is something else. */
  Optional<LockKey> name(byte[] key) {
    int from = prefix.length + 1;
    if (key.length <= from + 1
        || !Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length)
        || key[prefix.length] != '{'
        || key[key.length - 1] != '}') {
      return Optional.empty();
    }
    try {
      LockKey found = LockKey.of(unescaped(key, from));
      // only one form of a name is ours
      return Arrays.equals(key(found.bytes()), key) ? Optional.of(found) : Optional.empty();
    } catch (IllegalArgumentException e) {
      // somebody else's key
      return Optional.empty();
    }
  }

  private static String unescaped(byte[] key, int from) {
    ByteArrayOutputStream name = new ByteArrayOutputStream(key.length);
    for (int i = from; i < key.length - 1; i++) {
      if (key[i] == '%' && i + 2 < key.length - 1) {
        name.write(Integer.parseInt(new String(key, i + 1, 2, StandardCharsets.US_ASCII), 16));
        i += 2;
      } else {
        name.write(key[i]);
      }
    }
    return name.toString(StandardCharsets.UTF_8);
  }
}
