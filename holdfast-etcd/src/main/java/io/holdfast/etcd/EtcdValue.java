// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.holdfast.Holder;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What is stored under a claim's key, a line each, with newlines escaped: the format, the kind, when it was asked for and
 * until when it is kept (milliseconds of the client's clock, for people), and client, host, pid, thread and note.
 *
 * @param kind what it is
 * @param since when the claim was made
 * @param until until when a finished hold's lock is kept
 * @param holder who; empty if it is kept
 */
record EtcdValue(Kind kind, Instant since, Instant until, Optional<Holder> holder) {
  private static final String FORMAT = "1";
  private static final int PARTS = 9;

  /** A number in a line of its own comes first, whatever the version. */
  private static final Pattern ANY_FORMAT = Pattern.compile("\\d+\n.*", Pattern.DOTALL);

  /** What a claim's key stands for. */
  enum Kind {
    /** Holds the lock, or waits for it. */
    CLAIM,
    /** Was put by a try: holds the lock, or is about to be deleted again. */
    TRY,
    /** Keeps the lock taken after its hold. */
    KEPT
  }

  static EtcdValue claim(Kind kind, Instant since, Holder holder) {
    return new EtcdValue(kind, since, Instant.EPOCH, Optional.of(holder));
  }

  static EtcdValue kept(Instant since, Instant until) {
    return new EtcdValue(Kind.KEPT, since, until, Optional.empty());
  }

  ByteSequence write() {
    Holder who = holder.orElse(new Holder("", "", 0, "", ""));
    String text = String.join(
        "\n",
        FORMAT,
        kind.name(),
        Long.toString(since.toEpochMilli()),
        Long.toString(until.toEpochMilli()),
        escape(who.client()),
        escape(who.host()),
        Long.toString(who.pid()),
        escape(who.thread()),
        escape(who.note()));
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws StoreException if it is something else: it is never guessed
   */
  static EtcdValue read(ByteSequence key, ByteSequence stored) {
    return parse(stored)
        .orElseThrow(() -> new StoreException(
            "the key " + key.toString(StandardCharsets.UTF_8).replace('\t', ' ')
                + " holds something that this version does not know; it was left untouched: use a newer version of"
                + " Holdfast, or another holdfast.prefix",
            Reason.DAMAGED,
            false,
            null));
  }

  /** Reads what {@link #write} wrote; empty if it is something else. */
  static Optional<EtcdValue> parse(ByteSequence stored) {
    String[] parts = stored.toString(StandardCharsets.UTF_8).split("\n", -1);
    try {
      if (parts.length == PARTS && parts[0].equals(FORMAT)) {
        Kind kind = Kind.valueOf(parts[1]);
        Holder who = new Holder(
            unescape(parts[4]),
            unescape(parts[5]),
            Long.parseLong(parts[6]),
            unescape(parts[7]),
            unescape(parts[8]));
        return Optional.of(new EtcdValue(
            kind,
            Instant.ofEpochMilli(Long.parseLong(parts[2])),
            Instant.ofEpochMilli(Long.parseLong(parts[3])),
            kind == Kind.KEPT ? Optional.empty() : Optional.of(who)));
      }
    } catch (IllegalArgumentException e) {
      // not ours
    }
    return Optional.empty();
  }

  /** Says whether this begins as what any version writes does; another program's value does not. */
  static boolean isOurs(ByteSequence stored) {
    return ANY_FORMAT.matcher(stored.toString(StandardCharsets.UTF_8)).matches();
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
