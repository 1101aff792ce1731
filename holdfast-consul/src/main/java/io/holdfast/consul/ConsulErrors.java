// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.ConfigurationException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;

/**
 * What a failure means. What the server refuses when it looks at a request was not applied; a request that was under way
 * when its connection broke, or that was answered with an error of the server, may have been.
 */
final class ConsulErrors {
  static final int CONFLICT = 409;
  private static final int FORBIDDEN = 403;
  private static final int TOO_LARGE = 413;
  private static final int TOO_MANY = 429;
  private static final int SERVER_ERROR = 500;

  private ConsulErrors() {}

  /** Says whether nothing of a request has left this machine, so that another agent may be asked. */
  static boolean isNotSent(Throwable failure) {
    Throwable cause = unwrap(failure);
    return cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException;
  }

  /** Says whether the agent allows no more requests or connections for now. */
  static boolean isTooMany(int status) {
    return status == TOO_MANY;
  }

  /** Says whether we have cancelled the request ourselves; the JDK's client tells that wrapped. */
  static boolean isCancelled(Throwable failure) {
    return unwrap(failure) instanceof CancellationException;
  }

  /** Says whether a request that failed so certainly changed nothing. */
  static boolean isNotApplied(Throwable failure) {
    return unwrap(failure) instanceof StoreException known && known.notApplied();
  }

  /** Says whether the token was refused. */
  static boolean isRefused(Throwable failure) {
    return unwrap(failure) instanceof StoreException known && known.reason() == Reason.REFUSED;
  }

  /** Says whether a request was sent, and not answered in its time. */
  static boolean isTimeout(Throwable failure) {
    return unwrap(failure) instanceof StoreException known
        && known.getCause() instanceof Exception cause
        && (cause instanceof HttpTimeoutException || cause instanceof TimeoutException)
        && !isNotSent(cause);
  }

  /** Says whether a connection was closed without an answer, for which TLS may have been the reason. */
  static boolean mayHideRefusal(Throwable failure) {
    return failure instanceof StoreException known
        && known.reason() == Reason.UNREACHABLE
        && known.getCause() instanceof IOException cause
        && !isNotSent(cause)
        && !isTimeout(known);
  }

  /** What a request fails with that was not answered. */
  static RuntimeException of(String store, Throwable failure) {
    Throwable cause = unwrap(failure);
    if (cause instanceof StoreException || cause instanceof ConfigurationException) {
      return (RuntimeException) cause;
    }
    if (cause instanceof SSLException) {
      boolean early = cause instanceof SSLHandshakeException;
      return new StoreException(
          store + ": TLS failed: " + cause.getMessage()
              + "; holdfast.tls-ca names the authorities to trust, holdfast.tls-cert and holdfast.tls-key what we show",
          early ? Reason.REFUSED : Reason.UNREACHABLE,
          early,
          cause);
    }
    if (isNotSent(cause)) {
      return new StoreException(
          store + ": no agent answers; it is being tried on", Reason.UNREACHABLE, true, cause);
    }
    if (cause instanceof TimeoutException) {
      return new StoreException(
          store + ": the answer was not read in time", Reason.UNREACHABLE, false, cause);
    }
    String message = cause.getMessage();
    String said = message == null || !(cause instanceof IOException) ? cause.toString() : message;
    return new StoreException(store + ": " + said, Reason.UNREACHABLE, false, cause);
  }

  /** What a request fails with that the server refused or could not do. */
  static StoreException of(String store, int status, String text) {
    String said = store + ": " + (text.isBlank() ? "HTTP " + status : firstLine(text));
    if (status == FORBIDDEN || isDenied(text)) {
      return new StoreException(
          said
              + "; the token needs write on the keys that begin with holdfast.prefix, and session write",
          Reason.REFUSED,
          true,
          null);
    }
    if (text.contains("Invalid Session TTL")) {
      return new StoreException(
          said + "; holdfast.session-ttl-min must say what the servers' session_ttl_min is",
          Reason.REFUSED,
          true,
          null);
    }
    if (status == TOO_LARGE) {
      return new StoreException(said, Reason.FULL, true, null);
    }
    if (status == TOO_MANY) {
      return new StoreException(
          said + "; the agent allows no more requests or connections (limits)",
          Reason.UNREACHABLE,
          true,
          null);
    }
    if (status < SERVER_ERROR) {
      return new StoreException(said, Reason.REFUSED, true, null);
    }
    boolean noLeader =
        text.contains("No cluster leader") || text.contains("Missing node registration");
    return new StoreException(said, Reason.UNREACHABLE, noLeader, null);
  }

  static boolean isDenied(String text) {
    return text.contains("Permission denied") || text.contains("ACL not found");
  }

  private static String firstLine(String text) {
    int end = text.indexOf('\n');
    return end < 0 ? text : text.substring(0, end);
  }

  static Throwable unwrap(Throwable failure) {
    Throwable each = failure;
    while ((each instanceof CompletionException || each instanceof ExecutionException)
        && each.getCause() != null) {
      each = each.getCause();
    }
    return each;
  }
}
