// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.ConfigurationException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.consul.ConsulUnanswered.Met;
import io.holdfast.spi.StoreException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What a failure means. What the server refuses when it looks at a request was not applied; a request that was under way
 * when its connection broke, or that was answered with an error of the server, may have been.
 */
final class ConsulErrors {
  static final int CONFLICT = 409;

  private ConsulErrors() {}

  /** Says whether nothing of a request has left this machine, so that another agent may be asked. */
  static boolean isNotSent(Throwable failure) {
    Throwable cause = unwrap(failure);
    return cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException;
  }

  /** Says whether the agent allows no more requests or connections for now. */
  static boolean isTooMany(int status) {
    return status == ConsulTrouble.TOO_MANY;
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
    return told(store, ConsulTrouble.of(met(failure)), cause);
  }

  /** What a request fails with that the server refused or could not do. */
  static StoreException of(String store, ConsulHttp.Reply reply) {
    return told(store, ConsulTrouble.of(reply.status(), reply.headers(), reply.body()), null);
  }

  /** What a request fails with whose answer is none of Consul's. */
  static StoreException ofForeign(String store, ConsulHttp.Reply reply, RuntimeException cause) {
    return told(
        store,
        ConsulTrouble.anotherKind("HTTP " + reply.status() + " without JSON of Consul", false),
        cause);
  }

  /** What a transaction fails with that a part of it was refused for. */
  static StoreException ofRefusal(String store, String what) {
    return told(store, ConsulTrouble.of(CONFLICT, what), null);
  }

  /** The failure of a request that only reads, which certainly changed nothing. */
  static Throwable ofRead(Throwable failure) {
    Throwable cause = unwrap(failure);
    return cause instanceof StoreException known && !known.notApplied()
        ? new StoreException(
            Objects.requireNonNullElse(known.getMessage(), ""),
            known.reason(),
            true,
            Objects.requireNonNullElse(known.getCause(), known))
        : cause;
  }

  /** Says what has failed, for a report that names the store and has advice of its own. */
  static String words(String store, Throwable failure) {
    String line = Objects.requireNonNullElse(unwrap(failure).getMessage(), "");
    return ConsulAdvice.without(
        line.startsWith(store + ": ") ? line.substring(store.length() + 2) : line);
  }

  private static StoreException told(
      String store, ConsulTrouble trouble, @Nullable Throwable cause) {
    return new StoreException(
        store + ": " + trouble.line(), trouble.reason(), trouble.isNotApplied(), cause);
  }

  /** What was met at each agent; what waits for a change does not say which one it has asked. */
  private static List<Met> met(Throwable failure) {
    return peeled(failure) instanceof ConsulUnanswered told
        ? told.met()
        : List.of(new Met("", false, unwrap(failure)));
  }

  /** Takes off what futures wrap around, and which agents were asked. */
  static Throwable unwrap(Throwable failure) {
    Throwable inner = peeled(failure);
    return inner instanceof ConsulUnanswered told ? told.last() : inner;
  }

  private static Throwable peeled(Throwable failure) {
    Throwable each = failure;
    while ((each instanceof CompletionException || each instanceof ExecutionException)
        && each.getCause() != null) {
      each = each.getCause();
    }
    return each;
  }
}
