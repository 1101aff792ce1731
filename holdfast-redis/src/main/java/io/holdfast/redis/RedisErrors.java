// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.ConfigurationException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * What a failure means. An error that the server answers was noticed before the script's first write, because its first
 * write is what would have been refused; only a missing permission can show up later. No answer means unknown.
 */
final class RedisErrors {
  private static final String NARROW = "HOLDFAST-SERVER";

  /** What a server before 7.0 says of a script whose first line is for the server, and not for Lua. */
  private static final String TOO_OLD = "unexpected symbol near '#'";

  private static final String TLS =
      "holdfast.tls-ca names the authorities to trust, holdfast.tls-cert and holdfast.tls-key what we show, and with"
          + " holdfast.tls-verify=ca any host name will do";

  private static final String CLUSTER =
      "this server is a node of a cluster; write redis-cluster://";

  private record Meaning(String code, Reason reason, String advice) {}

  private static final List<Meaning> MEANINGS = List.of(
      new Meaning(
          "LOADING", Reason.UNREACHABLE, "the server is loading its data; it will be ready later"),
      new Meaning(
          "BUSY", Reason.UNREACHABLE, "another script keeps the server busy; SCRIPT KILL ends it"),
      new Meaning("CLUSTERDOWN", Reason.UNREACHABLE, "the cluster has no node for this slot now"),
      new Meaning("TRYAGAIN", Reason.UNREACHABLE, "the lock's slot is being moved"),
      new Meaning("MOVED", Reason.UNREACHABLE, CLUSTER),
      new Meaning("ASK", Reason.UNREACHABLE, CLUSTER),
      new Meaning("CROSSSLOT", Reason.REFUSED, CLUSTER),
      new Meaning(
          "ERR This instance has cluster support disabled",
          Reason.REFUSED,
          "this server is no node of a cluster; write redis://"),
      new Meaning("NOSCRIPT", Reason.UNREACHABLE, "the server forgot the script just now"),
      new Meaning("MASTERDOWN", Reason.UNREACHABLE, "this is a replica without its primary"),
      new Meaning(
          "READONLY",
          Reason.UNREACHABLE,
          "this server is a replica now; the address must lead to the primary"),
      new Meaning(
          "NOREPLICAS",
          Reason.UNREACHABLE,
          "too few replicas are connected (min-replicas-to-write)"),
      new Meaning("OOM", Reason.FULL, "the server's memory is full (maxmemory): make room"),
      new Meaning(
          "MISCONF",
          Reason.FULL,
          "the server cannot write to its disk, and takes no writes until it can"),
      new Meaning("NOAUTH", Reason.REFUSED, "a password is needed: redis://USER:PASSWORD@HOST"),
      new Meaning(
          "WRONGPASS", Reason.REFUSED, "user or password is wrong, or the user is disabled"),
      new Meaning(
          "NOPERM",
          Reason.REFUSED,
          "the user lacks a permission; doctor prints the ACL line that is needed"),
      new Meaning(
          "WRONGTYPE",
          Reason.DAMAGED,
          "a key with a lock's name holds something else; choose another holdfast.prefix"),
      new Meaning(
          "HOLDFAST",
          Reason.DAMAGED,
          "it was left untouched; use a newer version of Holdfast, or another holdfast.prefix"));

  private RedisErrors() {}

  static StoreException down(String store) {
    return new StoreException(
        store + ": there is no connection just now; it is being opened again",
        Reason.UNREACHABLE,
        true,
        null);
  }

  /**
   * What a request fails with while there is no connection. If the server said no to the next one, to our login for
   * example, then that is what a person has to see to; anything else may pass.
   *
   * @param refusal why the next connection could not be opened; null if it was not tried yet
   */
  static StoreException down(String store, @Nullable Throwable refusal) {
    if (refusal != null
        && answered(unwrap(refusal)) != null
        && of(store, refusal) instanceof StoreException said
        && said.notApplied()
        && said.reason() != Reason.UNREACHABLE) {
      return said;
    }
    return down(store);
  }

  /** What a request fails with. */
  static RuntimeException of(String store, Throwable failure) {
    Throwable cause = unwrap(failure);
    if (cause instanceof StoreException || cause instanceof ConfigurationException) {
      return (RuntimeException) cause;
    }
    RedisCommandExecutionException answered = answered(cause);
    if (answered == null) {
      SSLHandshakeException tls = find(SSLHandshakeException.class, cause);
      if (tls != null) {
        // there was no connection yet, and a person has to look at the certificates
        return new StoreException(
            store + ": TLS failed: " + tls.getMessage() + "; " + TLS, Reason.REFUSED, true, cause);
      }
      String found =
          Objects.requireNonNullElse(cause.getMessage(), cause.getClass().getSimpleName());
      return new StoreException(
          store + ": " + found
              + "; check that the server runs and that address, port and TLS are right",
          Reason.UNREACHABLE,
          false,
          cause);
    }
    String message = Objects.requireNonNullElse(answered.getMessage(), "an error without a text");
    if (message.contains(TOO_OLD)) {
      return new ConfigurationException(
          "Redis 7.0 or newer, or Valkey, is needed", store, answered);
    }
    if (hasCode(message, NARROW)) {
      return new ConfigurationException(
          "a server is needed whose Lua packs numbers of 64 bits: the usual 64-bit builds of Redis do",
          store,
          answered);
    }
    for (Meaning meaning : MEANINGS) {
      if (hasCode(message, meaning.code)) {
        boolean late = meaning.code.equals("NOPERM") && message.contains("script");
        return new StoreException(
            store + ": " + message + "; " + meaning.advice, meaning.reason, !late, answered);
      }
    }
    return new StoreException(
        store + ": " + message + "; the server refused the request",
        Reason.REFUSED,
        false,
        answered);
  }

  /** Says whether the server knows no such command, or does not permit it to us. */
  static boolean isRefusal(Throwable failure) {
    RedisCommandExecutionException answered = answered(unwrap(failure));
    String message = answered == null ? "" : String.valueOf(answered.getMessage());
    return message.startsWith("ERR unknown command") || hasCode(message, "NOPERM");
  }

  /** Says whether the server has become a replica: another connection may lead to the primary. */
  static boolean isReadOnly(Throwable failure) {
    RedisCommandExecutionException answered = answered(unwrap(failure));
    return answered != null && hasCode(String.valueOf(answered.getMessage()), "READONLY");
  }

  /** Returns the words MOVED or ASK, the slot, and the node that has it; null if the server said something else. */
  static String @Nullable [] redirection(Throwable failure) {
    RedisCommandExecutionException answered = answered(unwrap(failure));
    String[] words =
        answered == null ? new String[0] : String.valueOf(answered.getMessage()).split(" ", -1);
    boolean known = words.length == 3 && (words[0].equals("MOVED") || words[0].equals("ASK"));
    return known ? words : null;
  }

  /** Lets a stage fail with a failure of ours. */
  static <T extends @Nullable Object> CompletionStage<T> mapped(
      String store, CompletionStage<T> stage) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    stage.whenComplete((value, failure) -> {
      if (failure == null) {
        answer.complete(value);
      } else {
        answer.completeExceptionally(of(store, failure));
      }
    });
    return answer;
  }

  static boolean isNoScript(Throwable failure) {
    RedisCommandExecutionException answered = answered(unwrap(failure));
    return answered != null && String.valueOf(answered.getMessage()).startsWith("NOSCRIPT");
  }

  /** A connection that could not be opened has the server's answer somewhere below. */
  private static @Nullable RedisCommandExecutionException answered(Throwable failure) {
    return find(RedisCommandExecutionException.class, failure);
  }

  private static <E> @Nullable E find(Class<E> kind, Throwable failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (kind.isInstance(each)) {
        return kind.cast(each);
      }
      for (Throwable other : each.getSuppressed()) {
        // what each of several servers said
        E found = find(kind, other);
        if (found != null) {
          return found;
        }
      }
    }
    return null;
  }

  /** Redis 7 begins with the code; before, an error within a script had it after a minus. */
  private static boolean hasCode(String message, String code) {
    return message.startsWith(code) || message.contains("-" + code + " ");
  }

  private static Throwable unwrap(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }
}
