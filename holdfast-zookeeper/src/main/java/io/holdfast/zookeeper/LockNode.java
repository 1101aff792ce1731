// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.spi.ClaimId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A claim's node, as its name says: {@code KIND-CLIENT-NUMBER-SESSION-EXPECTED_SEQUENCE}. The kind is {@code q} for a claim
 * that queues and {@code t} for a try. The claim's id finds it again after a lost answer, and the session, in hex, says
 * whose it is: a node of an earlier session is never taken for our own. A try says which sequence number it expected;
 * where it got another one, somebody came between, and the try is about to leave.
 *
 * @param name the whole name
 * @param isTry whether it does not queue
 * @param claim whose it is
 * @param session the session that made it
 * @param expected the sequence number that a try saw coming; -1 for a claim that queues
 * @param sequence its place
 */
record LockNode(
    String name, boolean isTry, ClaimId claim, long session, int expected, int sequence) {
  private static final int PARTS = 5;

  /** The server counts up to 2147483647, and gives that number to all that come later. */
  private static final int LAST_SEQUENCE = Integer.MAX_VALUE - (1 << 20);

  /** Returns the name to make, to which the server adds the sequence number. */
  static String nameFor(ClaimId claim, long session, boolean isTry, int expected) {
    return (isTry ? "t-" : "q-") + claim + "-" + Long.toHexString(session) + "-"
        + (isTry ? expected : "") + "_";
  }

  /** Reads a name; empty if it is something else, which is left alone. */
  static Optional<LockNode> parse(String name) {
    int end = name.lastIndexOf('_');
    if (end < 0) {
      return Optional.empty();
    }
    String[] parts = name.substring(0, end).split("-", -1);
    if (parts.length != PARTS || !(parts[0].equals("q") || parts[0].equals("t"))) {
      return Optional.empty();
    }
    try {
      return Optional.of(new LockNode(
          name,
          parts[0].equals("t"),
          new ClaimId(parts[1], Long.parseLong(parts[2])),
          Long.parseUnsignedLong(parts[3], 16),
          parts[4].isEmpty() ? -1 : Integer.parseInt(parts[4]),
          Integer.parseInt(name.substring(end + 1))));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  /** Returns the claims' nodes among a folder's children, in their order. */
  static List<LockNode> queue(List<String> names) {
    List<LockNode> queue = new ArrayList<>(names.size());
    for (String name : names) {
      parse(name).ifPresent(queue::add);
    }
    queue.sort((one, other) -> Integer.compareUnsigned(one.sequence, other.sequence));
    return queue;
  }

  /** Whether its number says nothing of who came first, or soon will. */
  boolean isBeyondCounting() {
    return Integer.compareUnsigned(sequence, LAST_SEQUENCE) > 0;
  }

  /** Returns how many claims can still be counted in a folder whose next one gets that number. */
  static int left(int nextNumber) {
    return Math.max(0, LAST_SEQUENCE - nextNumber + 1);
  }

  /** A try that was certainly not the first when it came: it leaves as soon as its client has seen that. */
  boolean isLeaving() {
    return isTry && expected != sequence;
  }

  /** Returns the node at a path; null if it is not in the queue. */
  static @Nullable LockNode at(String path, List<LockNode> queue) {
    String name = ZooKeeperPaths.last(path);
    for (LockNode each : queue) {
      if (each.name.equals(name)) {
        return each;
      }
    }
    return null;
  }

  /**
   * Whether it is a node of a claim, made in a session. One of another session is somebody else's. There can be two: the
   * making of one had no answer, and it was made after all, later than a look for it.
   */
  boolean isOf(ClaimId id, long ofSession) {
    return session == ofSession && claim.equals(id);
  }

  /** Whether clients other than this claim's are in the queue. */
  static boolean othersThan(ClaimId id, List<LockNode> queue) {
    return queue.stream().anyMatch(each -> !each.claim.client().equals(id.client()));
  }
}
