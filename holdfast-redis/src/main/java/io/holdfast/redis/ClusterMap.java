// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which node has which slot, as one node said it, or as another one corrected it. Immutable. */
final class ClusterMap {
  static final int SLOTS = SlotHash.SLOT_COUNT;
  static final ClusterMap EMPTY = new ClusterMap(new @Nullable Endpoint[SLOTS]);

  private final @Nullable Endpoint[] slots;
  private final Set<Endpoint> owners;

  /** Where a node listens. */
  record Endpoint(String host, int port) {
    /** Reads {@code HOST:PORT}; without a known host it is that of the node that said so. */
    static Endpoint parse(String text, Endpoint said) {
      int colon = text.lastIndexOf(':');
      String host = text.substring(0, colon);
      return new Endpoint(
          isUnknown(host) ? said.host : host, Integer.parseInt(text.substring(colon + 1)));
    }

    /** A node that goes by its host's name, and has not announced one, is told as a question mark. */
    private static boolean isUnknown(String host) {
      return host.isEmpty() || host.equals("?");
    }

    /** Reads a node of CLUSTER SLOTS: host, port, id, and from Redis 7.0 on what else it goes by, its address too. */
    private static Endpoint read(List<?> node, Endpoint said) {
      String host = text(node.get(0));
      List<?> more = node.size() > 3 && node.get(3) instanceof List<?> names ? names : List.of();
      for (int i = 0; isUnknown(host) && i + 1 < more.size(); i += 2) {
        host = text(more.get(i)).equals("ip") ? text(more.get(i + 1)) : host;
      }
      return new Endpoint(isUnknown(host) ? said.host : host, Math.toIntExact((Long) node.get(1)));
    }

    private static String text(@Nullable Object part) {
      return part instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : "";
    }

    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  private ClusterMap(@Nullable Endpoint[] slots) {
    this.slots = slots;
    Set<Endpoint> found = new LinkedHashSet<>();
    Endpoint last = null;
    for (Endpoint each : slots) {
      // slots come in ranges: most have the same node as the slot before
      if (each != null && !each.equals(last)) {
        found.add(each);
        last = each;
      }
    }
    owners = Collections.unmodifiableSet(found);
  }

  /**
   * Reads the answer of CLUSTER SLOTS: ranges, each with its first and last slot, its primary and its replicas.
   *
   * @param said who answered
   */
  static ClusterMap read(List<Object> answer, Endpoint said) {
    @Nullable Endpoint[] slots = new @Nullable Endpoint[SLOTS];
    for (Object each : answer) {
      List<?> range = (List<?>) each;
      Endpoint owner = Endpoint.read((List<?>) range.get(2), said);
      Arrays.fill(
          slots,
          Math.toIntExact((Long) range.get(0)),
          Math.toIntExact((Long) range.get(1)) + 1,
          owner);
    }
    return new ClusterMap(slots);
  }

  /** Returns who has a slot; null if nobody is known to. */
  @Nullable
  Endpoint owner(int slot) {
    return slots[slot];
  }

  ClusterMap with(int slot, Endpoint owner) {
    @Nullable Endpoint[] changed = slots.clone();
    changed[slot] = owner;
    return new ClusterMap(changed);
  }

  /** Returns all nodes that have slots. */
  Set<Endpoint> owners() {
    return owners;
  }

  boolean isComplete() {
    return Arrays.stream(slots).noneMatch(each -> each == null);
  }

  static int slot(byte[] key) {
    return SlotHash.getSlot(key);
  }
}
