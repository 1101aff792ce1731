// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.time.Instant;
import java.util.Objects;

/** The hold was lost before it was released. Another holder may have the lock by now. */
public final class HoldLostException extends HoldfastException {
  private static final long serialVersionUID = 1L;

  private final long token;
  private final Instant when;
  private final LossReason reason;

  /**
   * Makes an exception.
   *
   * @param lockName the lock
   * @param store the store, without secrets
   * @param token the token of the hold that was lost
   * @param when when the loss was noticed, on this machine's wall clock (for people to read)
   * @param reason why
   */
  public HoldLostException(
      String lockName, String store, long token, Instant when, LossReason reason) {
    super(
        "the hold on lock \"" + lockName + "\" (token " + token + ") was lost: "
            + Objects.requireNonNull(reason, "reason").explanation(),
        Objects.requireNonNull(lockName, "lockName"),
        store,
        null);
    this.token = token;
    this.when = Objects.requireNonNull(when, "when");
    this.reason = reason;
  }

  /**
   * Returns the token of the lost hold.
   *
   * @return the fencing token
   */
  public long token() {
    return token;
  }

  /**
   * Returns when the loss was noticed.
   *
   * @return an instant of this machine's wall clock, for people to read
   */
  public Instant when() {
    return when;
  }

  /**
   * Returns why the hold was lost.
   *
   * @return the reason
   */
  public LossReason reason() {
    return reason;
  }
}
