// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import org.jspecify.annotations.Nullable;

/** What becomes of messages. */
interface Fates {
  /** Lost on the way. */
  long LOST = -1;

  /** No second copy. */
  long NONE = -1;

  /** What a message is about. */
  enum Message {
    CONNECT,
    ATTEMPT,
    KEEP,
    END,
    OWN,
    PUSH,
    OPERATOR,
    WRITE
  }

  /** After how long a request reaches the store; {@link #LOST}. */
  long request(SimProcess from, Message message);

  /**
   * After how long the same request reaches the store once more; {@link #NONE}. At once means: in the same moment. Later
   * means that the sender never hears of it: a request that was answered has no other copy under way.
   */
  long again(SimProcess from, Message message);

  /** How long a request waits in the store before it is applied. */
  long storeWait(SimProcess from, Message message);

  /** After how long an answer comes back; {@link #LOST}. */
  long reply(SimProcess to, Message message);

  /** How a request fails at once: null if it does not. */
  @Nullable
  Fault failure(SimProcess from, Message message);
}
