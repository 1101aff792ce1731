// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.ConfigurationException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What a failure means. An error that the server answers was noticed before the script's first write, because its first
 * write is what would have been refused; only a missing permission can show up later. No answer means unknown.
 */
final class RedisErrors {
  private static final String NARROW = "HOLDFAST-SERVER";

  /** What a server before 7.0 says of a script whose first line is for the server, and not for Lua. */
  private static final String TOO_OLD = "unexpected symbol near '#'";

  private static final String NOT_OURS = "HOLDFAST the key is not a lock of ours";

  private static final String OTHER_FORMAT = "HOLDFAST the record has format";

  private static final String CLUSTER =
      "write redis-cluster://: this server is a node of a cluster";

  private static final String RIGHTS =
      "run \"holdfast doctor\" as an administrator, and give this user the rights that it prints";

  private static final String LOGS = "read the server's log: the connection broke";

  /**
   * What a server's error means.
   *
   * @param code what it begins with
   * @param advice what to do
   */
  record Meaning(String code, Reason reason, String advice) {}

  private static final List<Meaning> MEANINGS = List.of(
      new Meaning("LOADING", Reason.UNREACHABLE, "wait until the server has loaded its data"),
      new Meaning(
          "BUSY",
          Reason.UNREACHABLE,
          "wait for the script that keeps the server busy, or end it with SCRIPT KILL"),
      new Meaning(
          "CLUSTERDOWN",
          Reason.UNREACHABLE,
          "start the missing nodes of the cluster: no node has this slot now"),
      new Meaning("TRYAGAIN", Reason.UNREACHABLE, "wait until the lock's slot has been moved"),
      new Meaning("MOVED", Reason.UNREACHABLE, CLUSTER),
      new Meaning("ASK", Reason.UNREACHABLE, CLUSTER),
      new Meaning("CROSSSLOT", Reason.REFUSED, CLUSTER),
      new Meaning(
          "ERR This instance has cluster support disabled",
          Reason.REFUSED,
          "write redis://: this server is no node of a cluster"),
      new Meaning(
          "NOSCRIPT", Reason.UNREACHABLE, "try again: the server forgot the script just now"),
      new Meaning(
          "MASTERDOWN",
          Reason.UNREACHABLE,
          "name the primary in the address, or find out why this replica has lost it"),
      new Meaning(
          "READONLY",
          Reason.UNREACHABLE,
          "name the primary in the address: this server is a replica or read-only"),
      new Meaning(
          "NOREPLICAS", Reason.UNREACHABLE, "start more replicas, or lower min-replicas-to-write"),
      new Meaning(
          "ERR max number of clients reached",
          Reason.UNREACHABLE,
          "close other clients, or raise the server's limit of connections (maxclients)"),
      new Meaning("OOM", Reason.FULL, "make room: the server's memory is full (maxmemory)"),
      new Meaning(
          "MISCONF",
          Reason.FULL,
          "make room on the server's disk, or read its log: the server takes no writes until it can write there"),
      new Meaning("NOAUTH", Reason.REFUSED, "write USER:PASSWORD@ before the host in the address"),
      new Meaning("WRONGPASS", Reason.REFUSED, ConnectionTrouble.LOGIN),
      new Meaning("NOPERM", Reason.REFUSED, RIGHTS),
      new Meaning("ERR The user executing the script can't", Reason.REFUSED, RIGHTS),
      new Meaning(
          "WRONGTYPE",
          Reason.DAMAGED,
          "choose another holdfast.prefix: a key with a lock's name holds something else"),
      new Meaning(
          "HOLDFAST",
          Reason.DAMAGED,
          "use a newer version of Holdfast, or another holdfast.prefix: the key was left untouched"));

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
    if (refusal == null) {
      return down(store);
    }
    Throwable cause = unwrap(refusal);
    ConnectionTrouble trouble = ConnectionTrouble.of(cause);
    return new StoreException(
        store + ": there is no connection just now: " + trouble.line(),
        isKnown(cause) ? trouble.reason() : Reason.UNREACHABLE,
        true,
        cause);
  }

  private static boolean isKnown(Throwable cause) {
    RedisCommandExecutionException answered = answered(cause);
    return answered != null && meaning(message(answered)) != null;
  }

  /** What is told of a connection that was not made: no request of a lock was sent on it. */
  static RuntimeException unconnected(String store, Throwable failure) {
    Throwable cause = unwrap(failure);
    if (cause instanceof StoreException || cause instanceof ConfigurationException) {
      return (RuntimeException) cause;
    }
    RedisCommandExecutionException answered = answered(cause);
    ConfigurationException unfit = answered == null ? null : unfit(store, answered);
    if (unfit != null) {
      return unfit;
    }
    ConnectionTrouble trouble = ConnectionTrouble.of(cause);
    return new StoreException(store + ": " + trouble.line(), trouble.reason(), true, cause);
  }

  /** What a request fails with that was, or may have been, sent. */
  static RuntimeException of(String store, Throwable failure) {
    Throwable cause = unwrap(failure);
    if (cause instanceof StoreException || cause instanceof ConfigurationException) {
      return (RuntimeException) cause;
    }
    RedisCommandExecutionException answered = answered(cause);
    if (answered == null) {
      return new StoreException(
          store + ": " + ConnectionTrouble.of(cause).words() + "; " + LOGS,
          Reason.UNREACHABLE,
          false,
          cause);
    }
    ConfigurationException unfit = unfit(store, answered);
    if (unfit != null) {
      return unfit;
    }
    String message = message(answered);
    String words = ConnectionTrouble.firstWords(message);
    Meaning meaning = meaning(message);
    if (meaning == null) {
      return new StoreException(
          store + ": " + words + "; read the server's log: it refused the request",
          Reason.REFUSED,
          false,
          answered);
    }
    boolean late = meaning.advice.equals(RIGHTS) && message.contains("script");
    return new StoreException(
        store + ": " + words + "; " + meaning.advice, meaning.reason, !late, answered);
  }

  private static String message(RedisCommandExecutionException answered) {
    return Objects.requireNonNullElse(answered.getMessage(), "an error without a text");
  }

  /** Returns what is to be told if the server is not fit for locks; null if that is not it. */
  private static @Nullable ConfigurationException unfit(
      String store, RedisCommandExecutionException answered) {
    String message = message(answered);
    if (message.contains(TOO_OLD)) {
      return new ConfigurationException(
          "Redis 7.0 or newer, or Valkey, is needed", store, answered);
    }
    return hasCode(message, NARROW)
        ? new ConfigurationException(
            "a server is needed whose Lua packs numbers of 64 bits: the usual 64-bit builds of Redis do",
            store,
            answered)
        : null;
  }

  /** Returns what an error means; null if its code is not known. */
  static @Nullable Meaning meaning(String message) {
    return MEANINGS.stream()
        .filter(each -> hasCode(message, each.code))
        .findFirst()
        .orElse(null);
  }

  /** Says whether a key with a lock's name holds what was never a lock, of this version or another one. */
  static boolean isForeign(Throwable failure) {
    RedisCommandExecutionException answered = answered(unwrap(failure));
    return answered != null
        && (hasCode(message(answered), "WRONGTYPE") || message(answered).contains(NOT_OURS));
  }

  /** Says whether a key holds the record of a lock that another version has written. */
  static boolean isOfAnotherFormat(Throwable failure) {
    RedisCommandExecutionException answered = answered(unwrap(failure));
    return answered != null && message(answered).contains(OTHER_FORMAT);
  }

  /** Says what went wrong, and what was said of it, if anything was. */
  static String because(String what, @Nullable Throwable cause) {
    return cause == null ? what : what + ": " + cause.getMessage();
  }

  /** Returns what a failure of a store says, without the store's name. */
  static String words(String store, Throwable failure) {
    String message = String.valueOf(unwrap(failure).getMessage());
    String name = store + ": ";
    return message.startsWith(name) ? message.substring(name.length()) : message;
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

  /** Lets a stage that connects fail with a failure of ours. */
  static <T extends @Nullable Object> CompletionStage<T> connecting(
      String store, CompletionStage<T> stage) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    stage.whenComplete((value, failure) -> {
      if (failure == null) {
        answer.complete(value);
      } else {
        answer.completeExceptionally(unconnected(store, failure));
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

  /** Looks for an exception among the causes, and beside them, where there is what each of several servers said. */
  static <E> @Nullable E find(Class<E> kind, Throwable failure) {
    return find(kind, failure, Collections.newSetFromMap(new IdentityHashMap<>()));
  }

  private static <E> @Nullable E find(Class<E> kind, Throwable failure, Set<Throwable> seen) {
    // causes may form a cycle
    for (Throwable each = failure; each != null && seen.add(each); each = each.getCause()) {
      if (kind.isInstance(each)) {
        return kind.cast(each);
      }
      for (Throwable other : each.getSuppressed()) {
        E found = find(kind, other, seen);
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
