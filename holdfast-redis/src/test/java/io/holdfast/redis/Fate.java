// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

/** What happens to a request or a message in a {@link RespProxy}. */
enum Fate {
  /** The connection breaks, and the request does not arrive. */
  LOSE_REQUEST,
  /** The request arrives, and the connection breaks before its reply is through. */
  LOSE_REPLY,
  /** The request arrives twice, at once; or the message does. */
  TWICE,
  /** The connection breaks, and the request arrives when the test lets it go. */
  LATE_REQUEST,
  /** The reply, or the message, waits until the test lets it go, and with it all that follows. */
  HOLD_REPLY,
  /** Nothing arrives from now on, and the connection stays open. */
  SILENCE,
  /** The message does not arrive. */
  MISS,
  /** The request does not arrive, and is answered with an error. */
  REFUSE
}
