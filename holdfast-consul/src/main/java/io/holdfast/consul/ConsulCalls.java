// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.ConfigurationException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Asks Consul, says what failures mean, and tells the engine when requests begin to fail and when they are answered again.
 */
final class ConsulCalls {
  private static final int OK = 200;
  private static final int NOT_HEALTHY = 429;
  private static final int NOT_FOUND = 404;
  private static final String INDEX = "X-Consul-Index";

  /** What the server may add to the time of a blocking query, and the way. */
  private static final Duration SLACK = Duration.ofSeconds(2);

  private final String store;
  private final ConsulAddress address;
  private final ConsulHttp http;
  private final Duration timeout;
  private final StoreEvents events;
  private final AtomicBoolean disturbed = new AtomicBoolean();

  ConsulCalls(String store, ConsulAddress address, Duration timeout, StoreEvents events) {
    this.store = store;
    this.address = address;
    this.http = new ConsulHttp(address);
    this.timeout = timeout;
    this.events = events;
  }

  /**
   * What a blocking query has seen.
   *
   * @param entry the key; one that is not there has the index 0
   * @param index from where the next query goes on
   */
  record Seen(ConsulEntry entry, long index) {}

  /** Does a transaction, which a majority agrees to also if it only reads. */
  CompletableFuture<ConsulTxn.Answer> txn(ConsulTxn txn) {
    return txn(txn, http::send, true);
  }

  /** The same on the calling thread, which waits for the answer, if that can be; see {@link ConsulHttp#sendHere}. */
  CompletableFuture<ConsulTxn.Answer> txnHere(ConsulTxn txn) {
    return txn(txn, http::sendHere, true);
  }

  /** The same for a read that no hold depends on: its failure is not told as a disturbance. */
  CompletableFuture<ConsulTxn.Answer> look(ConsulTxn txn) {
    return txn(txn, http::send, false);
  }

  private CompletableFuture<ConsulTxn.Answer> txn(ConsulTxn txn, Way way, boolean disturbs) {
    String body = txn.write(address.namespace(), address.partition());
    return ask(
        way,
        disturbs,
        new ConsulHttp.Question("PUT", "/v1/txn?consistent", body, timeout),
        status -> status == OK || status == ConsulErrors.CONFLICT,
        response -> answer(response));
  }

  /** How a request is sent. */
  private interface Way {
    CompletableFuture<ConsulHttp.Reply> send(ConsulHttp.Question question);
  }

  private ConsulTxn.Answer answer(ConsulHttp.Reply response) {
    ConsulTxn.Answer answer = ConsulTxn.read(response.status() == OK, response.body());
    for (ConsulTxn.Refusal each : answer.refusals()) {
      if (ConsulTrouble.isDenied(each.what())) {
        throw ConsulErrors.ofRefusal(store, each.what());
      }
    }
    return answer;
  }

  /**
   * Fails as a first request did, or with the refusal of TLS that may be behind its failure. The first request only reads:
   * also if it was sent, and not answered, it changed nothing.
   */
  <T> CompletableFuture<T> withRefusal(Throwable failure) {
    Throwable told = ConsulErrors.ofRead(failure);
    return address.isTls() && ConsulErrors.mayHideRefusal(told)
        ? ConsulHandshake.<T>refusalOr(told, address.agents(), http.secretSockets())
            .exceptionallyCompose(found ->
                CompletableFuture.failedFuture(ConsulErrors.ofRead(ConsulErrors.of(store, found))))
        : CompletableFuture.failedFuture(told);
  }

  /** Says what has failed, without what to do, for doctor. */
  String words(Throwable failure) {
    return ConsulErrors.words(store, failure);
  }

  /** Reads a key that a majority agrees to. */
  CompletableFuture<ConsulEntry> get(String key) {
    return get(key, true);
  }

  /** As {@link #get}, for a claim that waits: a failure is not reported as a disturbance, since no hold depends on it. */
  CompletableFuture<ConsulEntry> look(String key) {
    return get(key, false);
  }

  private CompletableFuture<ConsulEntry> get(String key, boolean disturbs) {
    String path = "/v1/kv/" + encode(key) + "?consistent";
    return ask(
        http::send,
        disturbs,
        new ConsulHttp.Question("GET", path, "", timeout),
        status -> status == OK || status == NOT_FOUND,
        response -> entry(key, response));
  }

  /** Lists keys. That this fails tells nothing of the connection: there may be too many of them for a request's time. */
  CompletableFuture<List<ConsulEntry>> list(String prefix) {
    String path = "/v1/kv/" + encode(prefix) + "?recurse=true&consistent";
    return ask(
        http::send,
        false,
        new ConsulHttp.Question("GET", path, "", timeout),
        status -> status == OK || status == NOT_FOUND,
        response -> {
          List<ConsulEntry> entries = new ArrayList<>();
          if (response.status() == OK) {
            Json.list(Json.read(response.body()))
                .forEach(each -> entries.add(ConsulEntry.read(each)));
          }
          return entries;
        });
  }

  /**
   * Waits until a key is changed. A wait that fails tells nothing of the connection: a proxy may cut silent requests, and an
   * agent those of a client that has many. Renewals tell what becomes of holds.
   *
   * @param index of the last answer; 0 is answered at once
   */
  Query watch(String key, long index, Duration wait) {
    String path = "/v1/kv/" + encode(key) + "?index=" + index + "&wait=" + wait.toMillis() + "ms";
    Duration most = wait.plus(wait.dividedBy(16)).plus(SLACK);
    ConsulHttp.Sent sent = http.sendOnce(new ConsulHttp.Question("GET", path, "", most));
    return new Query(
        sent,
        judged(
            sent.reply(),
            false,
            status -> status == OK || status == NOT_FOUND,
            response -> new Seen(
                entry(key, response), response.headers().firstValueAsLong(INDEX).orElse(0))));
  }

  /** A blocking query that is under way. */
  record Query(ConsulHttp.Sent sent, CompletableFuture<Seen> seen) {
    void cancel() {
      sent.cancel();
    }
  }

  private static ConsulEntry entry(String key, ConsulHttp.Reply response) {
    List<?> found = response.status() == OK ? Json.list(Json.read(response.body())) : List.of();
    return found.isEmpty() ? new ConsulEntry(key, "", "", 0) : ConsulEntry.read(found.get(0));
  }

  /** Begins a session without checks; its locks' keys are deleted when it ends. */
  CompletableFuture<String> createSession(Duration length, Duration lockDelay) {
    String body = Json.write(json -> {
      json.writeStartObject();
      json.writeStringProperty("Name", "holdfast");
      json.writeStringProperty("TTL", length.toMillis() + "ms");
      json.writeStringProperty("LockDelay", lockDelay.toMillis() + "ms");
      json.writeStringProperty("Behavior", "delete");
      for (String checks : List.of("NodeChecks", "ServiceChecks")) {
        json.writeName(checks);
        json.writeStartArray();
        json.writeEndArray();
      }
      json.writeEndObject();
    });
    return ask(
        "PUT",
        "/v1/session/create?",
        body,
        status -> status == OK,
        response -> Json.text(Json.read(response.body()), "ID"));
  }

  /** Renews a session; answers false if it has ended. */
  CompletableFuture<Boolean> renewSession(String session) {
    return ask(
        "PUT",
        "/v1/session/renew/" + session + "?",
        "",
        status -> status == OK || status == NOT_FOUND,
        response -> response.status() == OK);
  }

  /** Ends a session that nobody uses. If that fails, it ends by itself. */
  void destroySession(String session) {
    CompletionStage<Boolean> asked = endSession(session);
    asked.whenComplete((done, failure) -> {});
  }

  /** The same, and tells when that was done. */
  CompletableFuture<Boolean> endSession(String session) {
    return ask(
        "PUT", "/v1/session/destroy/" + session + "?", "", status -> status == OK, done -> true);
  }

  /** Says whether the last requests were not answered. */
  boolean isDisturbed() {
    return disturbed.get();
  }

  /** Asks for JSON, for doctor. */
  CompletableFuture<@Nullable Object> json(String path) {
    return this.<@Nullable Object>ask(
        "GET", path, "", status -> status == OK, response -> Json.read(response.body()));
  }

  /** Asks how the servers are, for doctor; who is not well says so with a status of its own. */
  CompletableFuture<@Nullable Object> health() {
    return this.<@Nullable Object>ask(
        "GET",
        "/v1/operator/autopilot/health?",
        "",
        status -> status == OK || status == NOT_HEALTHY,
        response -> Json.read(response.body()));
  }

  private <T extends @Nullable Object> CompletableFuture<T> ask(
      String method,
      String path,
      String body,
      Function<Integer, Boolean> isAnswer,
      Function<ConsulHttp.Reply, T> read) {
    return ask(
        http::send, true, new ConsulHttp.Question(method, path, body, timeout), isAnswer, read);
  }

  private <T extends @Nullable Object> CompletableFuture<T> ask(
      Way way,
      boolean disturbs,
      ConsulHttp.Question question,
      Function<Integer, Boolean> isAnswer,
      Function<ConsulHttp.Reply, T> read) {
    return judged(way.send(question), disturbs, isAnswer, read).exceptionallyCompose(failure -> {
      if (!ConsulErrors.isRefused(failure) || !address.isTokenRead()) {
        return CompletableFuture.failedFuture(failure);
      }
      // what was refused was not applied: asked once more, with the token of now
      try {
        http.token(address.token());
      } catch (ConfigurationException e) {
        // it is being written; that the request was refused says more
        return CompletableFuture.failedFuture(failure);
      }
      return judged(http.send(question), disturbs, isAnswer, read);
    });
  }

  private <T extends @Nullable Object> CompletableFuture<T> judged(
      CompletableFuture<ConsulHttp.Reply> asked,
      boolean disturbs,
      Function<Integer, Boolean> isAnswer,
      Function<ConsulHttp.Reply, T> read) {
    CompletableFuture<T> told = new CompletableFuture<>();
    CompletionStage<ConsulHttp.Reply> stage = asked;
    stage.whenComplete((response, failure) -> {
      try {
        if (failure != null) {
          throw ConsulErrors.of(store, failure);
        }
        if (!isAnswer.apply(response.status())) {
          throw ConsulErrors.of(store, response);
        }
        T answer = read(response, read);
        answered();
        told.complete(answer);
      } catch (RuntimeException e) {
        // an agent that wants fewer requests is there; the renewals decide what becomes of the holds
        boolean isThere = response != null && ConsulErrors.isTooMany(response.status());
        if (disturbs && !isThere && (failure == null || !ConsulErrors.isCancelled(failure))) {
          failed(e);
        }
        told.completeExceptionally(e);
      }
    });
    return told;
  }

  private <T extends @Nullable Object> T read(
      ConsulHttp.Reply response, Function<ConsulHttp.Reply, T> read) {
    try {
      return read.apply(response);
    } catch (Json.Foreign e) {
      throw ConsulErrors.ofForeign(store, response, e);
    }
  }

  private void answered() {
    if (disturbed.get() && disturbed.compareAndSet(true, false)) {
      events.restored();
    }
  }

  private void failed(RuntimeException meaning) {
    if (meaning instanceof StoreException known && known.reason() == Reason.UNREACHABLE) {
      if (disturbed.compareAndSet(false, true)) {
        events.disturbed();
      }
    }
  }

  private static String encode(String key) {
    // the server takes a slash as part of the key, encoded or not
    return URLEncoder.encode(key, StandardCharsets.UTF_8).replace("+", "%20").replace("%2F", "/");
  }
}
