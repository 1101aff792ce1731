// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.ConfigurationException;
import io.holdfast.HoldfastException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.StoreException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** Turns the failures of a store's stages into what callers see. */
final class Failures {
  private Failures() {}

  /** Takes off what futures wrap around. */
  static Throwable unwrap(Throwable failure) {
    Throwable inner = failure;
    while ((inner instanceof CompletionException || inner instanceof ExecutionException)
        && inner.getCause() != null) {
      inner = inner.getCause();
    }
    return inner;
  }

  /** Whether the request that failed certainly changed nothing: a store that cannot be used as it is was not asked. */
  static boolean notApplied(@Nullable Throwable failure) {
    Throwable cause = failure == null ? null : unwrap(failure);
    return cause instanceof ConfigurationException
        || (cause instanceof StoreException said && said.notApplied());
  }

  /** An attempt that the store refused because it came too late. */
  static StoreException late() {
    return new StoreException(
        "the request reached the store after its time-out",
        StoreUnavailableException.Reason.UNREACHABLE,
        true,
        null);
  }

  /** A grant whose lease had ended when it came. */
  static StoreException grantedTooLate() {
    return new StoreException(
        "the lease had ended when its grant arrived",
        StoreUnavailableException.Reason.UNREACHABLE,
        false,
        null);
  }

  /** What the store's module threw before the request could be made. */
  static StoreException notAsked(Throwable failure) {
    return new StoreException(
        String.valueOf(failure.getMessage()),
        StoreUnavailableException.Reason.UNREACHABLE,
        true,
        failure);
  }

  /** Says what failed; null means that no answer came. */
  static String message(@Nullable Throwable failure, String store) {
    Throwable cause = failure == null ? null : unwrap(failure);
    String what = cause == null ? "no answer in time" : String.valueOf(cause.getMessage());
    if (cause instanceof HoldfastException) {
      return what;
    }
    // most modules say themselves which store it is
    String where = what.startsWith(store) ? "store " : "store " + store + ": ";
    return where + what;
  }

  /** Makes the exception for a caller; null means that no answer came. */
  static RuntimeException unavailable(
      @Nullable Throwable failure, @Nullable String lockName, String store) {
    Throwable cause = failure == null ? null : unwrap(failure);
    if (cause instanceof HoldfastException known) {
      return known;
    }
    StoreUnavailableException.Reason reason = cause instanceof StoreException said
        ? said.reason()
        : StoreUnavailableException.Reason.UNREACHABLE;
    return new StoreUnavailableException(message(cause, store), lockName, store, reason, cause);
  }
}
