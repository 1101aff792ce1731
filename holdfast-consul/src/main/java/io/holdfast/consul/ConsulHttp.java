// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.consul.ConsulUnanswered.Met;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import javax.net.ssl.SSLSocketFactory;

/**
 * Sends requests to one of the agents, and to the next one when that cannot be reached. A request that may have been sent
 * is never repeated here; the next request goes to another agent then. The JDK's client repeats only GET.
 *
 * <p>The JDK's client completes what it returns in the common pool. Its threads may all be waiting, for a lock even; so a
 * reply is taken where its body is read, in a thread of the client's own.
 */
final class ConsulHttp {
  private static final String TOKEN = "X-Consul-Token";
  private static final int TOO_MANY = 429;
  private static final int SERVER_ERROR = 500;

  /** The client's own time-out ends with the headers; it comes first otherwise, as it knows more. */
  private static final Duration GRACE = Duration.ofMillis(500);

  private static final Pattern ADDRESS = Pattern.compile("localhost|[0-9.]+|\\[.*]");

  private final HttpClient client;
  private final List<Agent> agents;
  private final String parameters;
  private final AtomicInteger current = new AtomicInteger();
  private volatile String token;

  ConsulHttp(ConsulAddress address) {
    this.client = address.client();
    this.agents = address.agents().stream()
        .map(agent -> new Agent(agent, needsNoLookup(agent)))
        .toList();
    this.parameters = address.parameters();
    this.token = address.token();
  }

  /**
   * A request.
   *
   * @param method for example {@code GET}
   * @param path with a {@code ?} and parameters
   * @param body empty for none
   * @param timeout for the whole of it
   */
  record Question(String method, String path, String body, Duration timeout) {}

  /** An agent, and whether nobody has to look for its address. */
  private record Agent(URI uri, boolean needsNoLookup) {}

  /** What an agent answered. */
  record Reply(int status, HttpHeaders headers, String body) {}

  /** A request that is under way. */
  record Sent(CompletableFuture<?> raw, CompletableFuture<Reply> reply) {
    /** Closes its connection. */
    void cancel() {
      raw.cancel(true);
    }
  }

  /** Makes sockets that speak TLS as the requests do. */
  SSLSocketFactory secretSockets() {
    return client.sslContext().getSocketFactory();
  }

  /** Takes another token from now on. */
  void token(String now) {
    token = now;
  }

  CompletableFuture<Reply> send(Question question) {
    return send(question, List.of());
  }

  private CompletableFuture<Reply> send(Question question, List<Met> before) {
    int agent = current.get();
    return orNext(agent, sendTo(agent, question).reply, question, before);
  }

  private CompletableFuture<Reply> orNext(
      int agent, CompletableFuture<Reply> asked, Question question, List<Met> before) {
    return asked.exceptionallyCompose(failure -> {
      if (!ConsulErrors.isCancelled(failure)) {
        leave(agent);
      }
      List<Met> met = new ArrayList<>(before);
      met.add(new Met(
          agent(agent).uri.getAuthority(), agents.size() > 1, ConsulErrors.unwrap(failure)));
      if (ConsulErrors.isNotSent(failure) && met.size() < agents.size()) {
        return send(question, met);
      }
      return CompletableFuture.failedFuture(new ConsulUnanswered(met));
    });
  }

  /**
   * As {@link #send}; on the calling thread, which waits for the answer, if that takes no longer than the question's
   * timeout and a moment. That saves what handing it from thread to thread costs, as much as a third of the request. An
   * interrupt ends the request as if it was cancelled, and stays.
   */
  CompletableFuture<Reply> sendHere(Question question) {
    int agent = current.get();
    // nothing limits the look for a name's address; while a worker of such a pool waits for the
    // client, it runs whatever else stands in its line, which may wait for this very request; and who
    // was interrupted before could not wait
    boolean mayWait = agent(agent).needsNoLookup
        && !ForkJoinTask.inForkJoinPool()
        && !Thread.currentThread().isInterrupted();
    if (!mayWait) {
      return send(question);
    }
    return orNext(agent, askHere(agent, question), question, List.of());
  }

  /** Whether the host is an address, or this machine. */
  static boolean needsNoLookup(URI agent) {
    return ADDRESS.matcher(agent.getHost()).matches();
  }

  private CompletableFuture<Reply> askHere(int agent, Question question) {
    // not by the store's timer, which ends with the store
    CompletableFuture<Boolean> due = new CompletableFuture<Boolean>()
        .completeOnTimeout(true, question.timeout.plus(GRACE).toMillis(), TimeUnit.MILLISECONDS);
    try {
      HttpResponse<String> answer =
          client.send(request(agent, question), head -> new ConsulBody(due));
      leaveIfUnable(agent, answer.statusCode());
      return CompletableFuture.completedFuture(
          new Reply(answer.statusCode(), answer.headers(), answer.body()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return CompletableFuture.failedFuture(cancelled(e));
    } catch (IOException e) {
      // an interrupted thread closes a connection that it writes to
      return CompletableFuture.failedFuture(
          Thread.currentThread().isInterrupted() ? cancelled(e) : e);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      due.cancel(false);
    }
  }

  private static CancellationException cancelled(Exception cause) {
    CancellationException told = new CancellationException("interrupted while it was under way");
    told.initCause(cause);
    return told;
  }

  /** Sends it to the agent that is in use now. */
  Sent sendOnce(Question question) {
    int agent = current.get();
    Sent sent = sendTo(agent, question);
    CompletionStage<Reply> stage = sent.reply;
    stage.whenComplete((reply, failure) -> {
      if (failure != null && !ConsulErrors.isCancelled(failure)) {
        leave(agent);
      }
    });
    return sent;
  }

  private Agent agent(int number) {
    return agents.get(Math.floorMod(number, agents.size()));
  }

  private HttpRequest request(int agent, Question question) {
    HttpRequest.Builder request = HttpRequest.newBuilder(
            URI.create(agent(agent).uri + question.path + parameters))
        .timeout(question.timeout)
        .method(
            question.method,
            question.body.isEmpty()
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(question.body));
    if (!token.isEmpty()) {
      request.header(TOKEN, token);
    }
    return request.build();
  }

  private Sent sendTo(int agent, Question question) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    CompletableFuture<HttpResponse<String>> raw =
        client.sendAsync(request(agent, question), head -> {
          ConsulText text = new ConsulText(head.statusCode());
          // as soon as the text is there: what breaks the connection behind it comes later
          CompletionStage<String> read = text.getBody();
          read.thenAccept(body -> {
            // before the next question, to which the reply may lead
            leaveIfUnable(agent, head.statusCode());
            reply.complete(new Reply(head.statusCode(), head.headers(), body));
          });
          return text;
        });
    CompletionStage<HttpResponse<String>> failing = raw;
    failing.whenComplete((response, failure) -> {
      if (failure != null) {
        reply.completeExceptionally(failure);
      }
    });
    CompletionStage<Reply> timed =
        reply.orTimeout(question.timeout.plus(GRACE).toMillis(), TimeUnit.MILLISECONDS);
    timed.whenComplete((seen, failure) -> {
      if (failure instanceof TimeoutException) {
        raw.cancel(true);
      }
    });
    return new Sent(raw, reply);
  }

  private void leaveIfUnable(int agent, int status) {
    if (status >= SERVER_ERROR || status == TOO_MANY) {
      leave(agent);
    }
  }

  /** Asks another agent from now on, unless somebody has changed to one already. */
  private void leave(int agent) {
    current.compareAndSet(agent, agent + 1);
  }
}
