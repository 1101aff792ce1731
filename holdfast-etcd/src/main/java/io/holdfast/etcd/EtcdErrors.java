// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.common.exception.EtcdException;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.holdfast.ConfigurationException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Causes;
import io.holdfast.spi.StoreException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * What a failure means. What the server refuses when it looks at a request was not applied, nor is what had no connection to be
 * sent on, as {@link ConnectionTrouble} says; a request that was under way when its connection broke, or that the cluster gave up waiting for, may have been. So may one that is refused for want of
 * space: until the alarm is raised, the members apply what does not fit, and say only then that it does not.
 */
final class EtcdErrors {
  private static final String LEASE_GONE = "requested lease not found";

  private record Meaning(String words, Reason reason, boolean notApplied, String advice) {}

  private static final List<Meaning> MEANINGS = List.of(
      new Meaning(
          "permission denied",
          Reason.REFUSED,
          true,
          "give the user's role readwrite on the keys that begin with holdfast.prefix"),
      new Meaning(
          "authentication failed",
          Reason.REFUSED,
          true,
          "correct user and password in the address"),
      new Meaning(
          "authentication is not enabled",
          Reason.REFUSED,
          true,
          "leave user and password out of the address, or enable authentication in etcd"),
      new Meaning(
          "user name is empty",
          Reason.REFUSED,
          true,
          "write USER:PASSWORD@ before the hosts in the address"),
      new Meaning(
          "invalid auth token",
          Reason.UNREACHABLE,
          true,
          "wait until the client has logged in again"),
      new Meaning(
          "revision of auth store is old",
          Reason.UNREACHABLE,
          true,
          "wait until the client has logged in again"),
      new Meaning(
          "database space exceeded",
          Reason.FULL,
          false,
          "compact and defragment etcd and then disarm the alarm, or raise --quota-backend-bytes"),
      new Meaning(
          "too many requests",
          Reason.UNREACHABLE,
          true,
          "wait until the server has less load, or look at its disk"),
      new Meaning(
          "corrupt",
          Reason.DAMAGED,
          true,
          "replace the member whose data differs from the others'"));

  private EtcdErrors() {}

  /** Says whether a request failed because its lease has ended: it was not applied. */
  static boolean isLeaseGone(Throwable failure) {
    return text(failure).contains(LEASE_GONE);
  }

  /** Says whether a request that failed so certainly changed nothing. */
  static boolean isNotApplied(Throwable failure) {
    return unwrap(failure) instanceof StoreException known && known.notApplied();
  }

  /** Says whether a request was refused for want of space: it may have been applied, and will not be from now on. */
  static boolean isFull(Throwable failure) {
    return unwrap(failure) instanceof StoreException known && known.reason() == Reason.FULL;
  }

  /** The same failure of a request, of which it is known by now that it changed nothing. */
  static Throwable withoutChange(Throwable failure) {
    return changed(failure, true);
  }

  /** The same failure of a request, when another one for the same purpose was applied before: no promise any more. */
  static Throwable afterChange(Throwable failure) {
    return changed(failure, false);
  }

  private static Throwable changed(Throwable failure, boolean notApplied) {
    return unwrap(failure) instanceof StoreException known && known.notApplied() != notApplied
        ? new StoreException(
            String.valueOf(known.getMessage()), known.reason(), notApplied, known.getCause())
        : failure;
  }

  /** What a request fails with. */
  static RuntimeException of(String store, Throwable failure) {
    Throwable cause = unwrap(failure);
    if (cause instanceof StoreException || cause instanceof ConfigurationException) {
      return (RuntimeException) cause;
    }
    Optional<ConnectionTrouble> trouble = notSent(cause);
    if (trouble.isPresent()) {
      ConnectionTrouble told = trouble.get();
      return new StoreException(
          store + ": " + told.line(),
          told.isRefusal() ? Reason.REFUSED : Reason.UNREACHABLE,
          true,
          cause);
    }
    String said = text(cause);
    for (Meaning each : MEANINGS) {
      if (said.contains(each.words)) {
        return new StoreException(
            store + ": " + said + "; " + each.advice, each.reason, each.notApplied, cause);
      }
    }
    return new StoreException(store + ": " + said, Reason.UNREACHABLE, false, cause);
  }

  /** Why there is no connection, if that is what a request failed for: it was not sent. */
  private static Optional<ConnectionTrouble> notSent(Throwable cause) {
    return Causes.find(NotConnected.class, cause)
        .map(NotConnected::trouble)
        .or(() -> ConnectionTrouble.certain(cause));
  }

  private static String text(Throwable failure) {
    Throwable cause = unwrap(failure);
    if (cause instanceof StatusRuntimeException || cause instanceof StatusException) {
      Status status = Status.fromThrowable(cause);
      String description = status.getDescription();
      Throwable behind = status.getCause();
      if (description == null) {
        // a login that fails is told as its cause only
        return behind == null ? status.getCode().name() : text(behind);
      }
      return firstLine(description) + (behind == null ? "" : ": " + text(behind));
    }
    String message = cause.getMessage();
    String said = message == null || message.isBlank()
        ? cause.getClass().getSimpleName()
        : firstLine(message);
    Throwable behind = cause.getCause();
    return cause instanceof EtcdException && behind != null ? said + ": " + text(behind) : said;
  }

  private static String firstLine(String text) {
    int end = text.indexOf('\n');
    return end < 0 ? text : text.substring(0, end);
  }

  private static Throwable unwrap(Throwable failure) {
    Throwable each = failure;
    while ((each instanceof CompletionException || each instanceof ExecutionException)
        && each.getCause() != null) {
      each = each.getCause();
    }
    return each;
  }
}
