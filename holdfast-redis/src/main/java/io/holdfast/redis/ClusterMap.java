// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which node has which slot, as one node said it, or as another one corrected it. Immutable. */
final class ClusterMap {
  static final int SLOTS = SlotHash.SLOT_COUNT;
  static final ClusterMap EMPTY = new ClusterMap(new @Nullable Endpoint[SLOTS]);

  private final @Nullable Endpoint[] slots;

  /** Where a node listens. */
  record Endpoint(String host, int port) {
    /** Reads {@code HOST:PORT}; without a host it is that of the node that said so. */
    static Endpoint parse(String text, Endpoint said) {
      int colon = text.lastIndexOf(':');
      String host = text.substring(0, colon);
      return new Endpoint(
          host.isEmpty() ? said.host : host, Integer.parseInt(text.substring(colon + 1)));
    }

    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  private ClusterMap(@Nullable Endpoint[] slots) {
    this.slots = slots;
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
      List<?> primary = (List<?>) range.get(2);
      String host =
          primary.get(0) instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : "";
      Endpoint owner =
          new Endpoint(host.isEmpty() || host.equals("?") ? said.host : host, Math.toIntExact((Long)
              primary.get(1)));
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
    Set<Endpoint> owners = new LinkedHashSet<>();
    for (Endpoint each : slots) {
      if (each != null) {
        owners.add(each);
      }
    }
    return owners;
  }

  boolean isComplete() {
    return Arrays.stream(slots).noneMatch(each -> each == null);
  }

  static int slot(byte[] key) {
    return SlotHash.getSlot(key);
  }
}
