// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/**
 * What the nodes hold. A claim's node: the format, the lease, then client, host, pid, thread and note, one on each line,
 * with newlines escaped. A kept lock's marker: the format, the server's time until which it is kept in milliseconds
 * since the epoch, and the revision of the grant that it continues. Claims' data are for people and decide nothing.
 */
final class NodeData {
  /** The format of everything that is stored; a newer one is refused at the first contact. */
  static final String FORMAT = "1";

  private static final int CLAIM_PARTS = 7;
  private static final int KEPT_PARTS = 3;

  private NodeData() {}

  /**
   * Who has or wants the lock.
   *
   * @param holder shown to people
   * @param lease how long its lease is
   */
  record Shown(Holder holder, Duration lease) {}

  /**
   * A lock that is taken without a holder.
   *
   * @param untilMillis the server's time
   * @param revision of the grant that it continues
   */
  record KeptLock(long untilMillis, long revision) {}

  static byte[] write(Claim claim) {
    Holder holder = claim.holder();
    return bytes(FORMAT
        + '\n'
        + claim.lease().toMillis()
        + '\n'
        + escape(holder.client())
        + '\n'
        + escape(holder.host())
        + '\n'
        + holder.pid()
        + '\n'
        + escape(holder.thread())
        + '\n'
        + escape(holder.note()));
  }

  static Optional<Shown> readClaim(byte[] stored) {
    String[] parts = text(stored).split("\n", -1);
    if (parts.length != CLAIM_PARTS) {
      return Optional.empty();
    }
    try {
      return Optional.of(new Shown(
          new Holder(
              unescape(parts[2]),
              unescape(parts[3]),
              Long.parseLong(parts[4]),
              unescape(parts[5]),
              unescape(parts[6])),
          Duration.ofMillis(Long.parseLong(parts[1]))));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  static byte[] write(KeptLock kept) {
    return bytes(FORMAT + '\n' + kept.untilMillis() + '\n' + kept.revision());
  }

  /** Reads a marker; empty if it is something else. */
  static Optional<KeptLock> readKept(byte[] stored) {
    String[] parts = text(stored).split("\n", -1);
    if (parts.length != KEPT_PARTS) {
      return Optional.empty();
    }
    try {
      return Optional.of(new KeptLock(Long.parseLong(parts[1]), Long.parseLong(parts[2])));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static String escape(String text) {
    return text.replace("\\", "\\\\").replace("\n", "\\n");
  }

  private static String unescape(String text) {
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
