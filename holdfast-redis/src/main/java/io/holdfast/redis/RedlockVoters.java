// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Who has voted in one round: each server once, however many nodes' names lead to it just now. The server itself says who
 * it is, in the same script as its vote; so it does not matter when a name or a connection began to lead there.
 */
final class RedlockVoters {
  private final Set<String> heard = ConcurrentHashMap.newKeySet();

  /** Returns which server it is, without what it evicted: that changes from one vote to the next. */
  static String server(String identity) {
    return identity.substring(0, identity.lastIndexOf('-'));
  }

  /** Says whether this server's vote counts; what names no server is no vote. */
  boolean isFirst(String server) {
    return server.isEmpty() || heard.add(server);
  }

  /** Why the vote of another node does not. */
  static StoreException votedAlready() {
    return new StoreException(
        "two nodes' names lead to one and the same server, which has one vote",
        Reason.UNREACHABLE,
        false,
        null);
  }
}
