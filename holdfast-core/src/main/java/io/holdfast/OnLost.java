// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What to do, besides the change of state, when a hold is lost. Equal settings are equal values.
 *
 * <pre>{@code
 * LockOptions options =
 *     LockOptions.builder().onLost(OnLost.call(loss -> alarms.add(loss.getMessage()))).build();
 * }</pre>
 *
 * @see LockOptions.Builder#onLost(OnLost)
 */
public final class OnLost {
  private static final OnLost NOTHING = new OnLost(false, null);
  private static final OnLost INTERRUPT = new OnLost(true, null);

  private final boolean interrupts;
  private final @Nullable Consumer<HoldLostException> callback;

  private OnLost(boolean interrupts, @Nullable Consumer<HoldLostException> callback) {
    this.interrupts = interrupts;
    this.callback = callback;
  }

  /**
   * Does nothing more: code that wants to know asks the hold.
   *
   * @return the default
   */
  public static OnLost doNothing() {
    return NOTHING;
  }

  /**
   * Interrupts the thread whose blocking call acquired the hold. The interrupt is delivered before {@code release()}
   * returns or never, so it cannot hit what the thread does afterwards. Holds that were acquired asynchronously have no
   * thread: for them this does nothing.
   *
   * @return the setting
   */
  public static OnLost interruptAcquirer() {
    return INTERRUPT;
  }

  /**
   * Calls back, once, on the callback executor, never on a renewal or I/O thread. What the callback throws is caught,
   * logged and counted.
   *
   * @param callback told of the loss
   * @return the setting
   */
  public static OnLost call(Consumer<HoldLostException> callback) {
    return new OnLost(false, Objects.requireNonNull(callback, "callback"));
  }

  /**
   * Says whether the acquiring thread is interrupted.
   *
   * @return true for {@link #interruptAcquirer()}
   */
  public boolean interrupts() {
    return interrupts;
  }

  /**
   * Returns the callback.
   *
   * @return the callback of {@link #call}; empty otherwise
   */
  public Optional<Consumer<HoldLostException>> callback() {
    return Optional.ofNullable(callback);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof OnLost that
        && interrupts == that.interrupts
        && Objects.equals(callback, that.callback);
  }

  @Override
  public int hashCode() {
    return Objects.hash(interrupts, callback);
  }

  @Override
  public String toString() {
    return interrupts ? "interruptAcquirer" : callback == null ? "doNothing" : "call";
  }
}
