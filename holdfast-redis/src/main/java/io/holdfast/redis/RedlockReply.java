// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one node answered about a claim that should be there.
 *
 * @param has whether the node has, or had, the claim
 * @param othersWait whether others wait
 * @param failure why it did not say; null if it did
 * @param server which server said it, since its last start; empty if it did not say
 */
record RedlockReply(Has has, boolean othersWait, @Nullable Throwable failure, String server) {
  enum Has {
    YES,
    NO,
    UNKNOWN
  }

  static RedlockReply of(boolean has, boolean othersWait) {
    return new RedlockReply(has ? Has.YES : Has.NO, othersWait, null, "");
  }

  static RedlockReply unknown(@Nullable Throwable failure) {
    return new RedlockReply(Has.UNKNOWN, false, failure, "");
  }

  /** The same, said by a server. */
  RedlockReply by(String who) {
    return new RedlockReply(has, othersWait, failure, who);
  }

  /**
   * Says what a majority has: {@code YES} or {@code NO} once that is certain, {@code UNKNOWN} if it will not be, and
   * null while answers may come.
   *
   * @param replies null for a node that has not answered
   * @param over whether silent nodes are waited for no longer
   */
  static @Nullable Has majority(List<@Nullable RedlockReply> replies, boolean over) {
    int majority = replies.size() / 2 + 1;
    int yes = 0;
    int no = 0;
    int silent = 0;
    for (RedlockReply reply : replies) {
      if (reply == null) {
        silent++;
      } else if (reply.has == Has.YES) {
        yes++;
      } else if (reply.has == Has.NO) {
        no++;
      }
    }
    if (yes >= majority) {
      return Has.YES;
    }
    if (no > replies.size() - majority) {
      return Has.NO;
    }
    return silent > 0 && !over ? null : Has.UNKNOWN;
  }

  static boolean othersWait(List<@Nullable RedlockReply> replies) {
    return replies.stream().anyMatch(reply -> reply != null && reply.othersWait);
  }

  /** Returns why a node did not say; null if all did, or none has answered. */
  static @Nullable Throwable failure(List<@Nullable RedlockReply> replies) {
    for (RedlockReply reply : replies) {
      if (reply != null && reply.failure != null) {
        return reply.failure;
      }
    }
    return null;
  }
}
