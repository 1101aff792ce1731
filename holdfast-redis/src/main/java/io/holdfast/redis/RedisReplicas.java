// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Scripts whose writes replicas have to confirm, on a connection of their own: WAIT counts what its own connection has
 * written, and keeps that connection busy until the replicas have answered or the time is up.
 *
 * <pre>
 *   idle --run()--> group: scripts, then one WAIT for all of them --> next group of what came meanwhile, or idle
 * </pre>
 *
 * <p>A group's scripts and its WAIT go to one connection: on another one, which may lead to another server since a
 * failover, WAIT would count replicas that know nothing of it. Fields are guarded by {@link #lock}.
 */
final class RedisReplicas {
  /**
   * What the address asks for.
   *
   * @param wanted how many replicas have to confirm; 0 for none
   * @param limit how long they have time
   */
  record Rule(int wanted, Duration limit) {
    static final Rule NONE = new Rule(0, Duration.ofMillis(500));
    private static final Duration SHORTEST = Duration.ofMillis(1);

    boolean asks() {
      return wanted > 0;
    }

    /**
     * Half of a request's time is the most that replicas get: the other half is for saying that they did not confirm. Not
     * less than what WAIT counts in, for to wait zero of them is to wait for ever.
     */
    Rule within(Duration requestTimeout) {
      Duration half = requestTimeout.dividedBy(2);
      Duration most = half.compareTo(SHORTEST) < 0 ? SHORTEST : half;
      return limit.compareTo(most) <= 0 ? this : new Rule(wanted, most);
    }
  }

  /**
   * An answer, and how many replicas have what was written for it.
   *
   * @param answer the script's
   * @param replicas as WAIT counted; what was wanted, where nothing had to be confirmed
   */
  record Confirmed(List<Object> answer, long replicas) {}

  /** A script on the way to some connection. */
  private interface Call
      extends Function<StatefulRedisConnection<byte[], byte[]>, CompletionStage<List<Object>>> {}

  private static final class Request {
    final Call call;
    final Predicate<List<Object>> counts;
    final CompletableFuture<Confirmed> confirmed = new CompletableFuture<>();
    volatile @Nullable List<Object> answer;
    volatile @Nullable Throwable failure;

    Request(Call call, Predicate<List<Object>> counts) {
      this.call = call;
      this.counts = counts;
    }
  }

  private final Rule rule;
  private final RedisNode node;
  private final StoreRuntime runtime;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Request> next = new ArrayList<>();
  private boolean busy;

  RedisReplicas(Rule asked, RedisNode node, StoreRuntime runtime) {
    this.rule = asked.within(runtime.requestTimeout());
    this.node = node;
    this.runtime = runtime;
  }

  /** Opens the connection, and asks for nothing: so a missing permission is told at the first contact. */
  CompletionStage<?> open() {
    return node.open().thenCompose(up -> node.<Long>ask(redis -> redis.waitForReplication(0, 1)));
  }

  void replace() {
    node.replace();
  }

  CompletableFuture<?> close() {
    return node.close();
  }

  /**
   * Runs a script, and waits for the replicas if its answer says that something was written that counts.
   *
   * @param counts whether an answer has to be confirmed
   */
  CompletionStage<Confirmed> run(
      Predicate<List<Object>> counts, RedisScript script, byte[][] of, byte[]... arguments) {
    return run(new Request(on -> node.send(on, script, of, arguments), counts));
  }

  /** Runs a script on a node that is taking over its keys. */
  CompletionStage<Confirmed> runAsking(
      Predicate<List<Object>> counts, RedisScript script, byte[][] of, byte[]... arguments) {
    return run(new Request(on -> node.sendAsking(on, script, of, arguments), counts));
  }

  private CompletionStage<Confirmed> run(Request mine) {
    lock.lock();
    try {
      next.add(mine);
      if (busy) {
        return mine.confirmed;
      }
      busy = true;
    } finally {
      lock.unlock();
    }
    runNext();
    return mine.confirmed;
  }

  private void runNext() {
    List<Request> group;
    lock.lock();
    try {
      if (next.isEmpty()) {
        busy = false;
        return;
      }
      group = List.copyOf(next);
      next.clear();
    } finally {
      lock.unlock();
    }
    answered(group).whenComplete((replicas, failure) -> {
      try {
        group.forEach(each -> settle(each, replicas, failure));
      } finally {
        runNext();
      }
    });
  }

  private CompletionStage<Long> answered(List<Request> group) {
    try {
      if (!node.isUp()) {
        // what waits now fails, and finds it when it comes again
        var unused = node.open();
      }
      // what is never answered must not keep all that comes after it
      return Limit.on(
          node.<Long>askOn(connection -> run(connection, group)),
          runtime,
          runtime.requestTimeout().plus(rule.limit()),
          this::silent);
    } catch (RuntimeException | Error e) {
      // nor what cannot be asked at all, where memory has run out
      return CompletableFuture.failedFuture(RedisErrors.of(node.describe(), e));
    }
  }

  private StoreException silent() {
    return new StoreException(
        node.describe() + ": no answer in time on the connection on which replicas are waited for",
        Reason.UNREACHABLE,
        false,
        null);
  }

  private CompletionStage<Long> run(
      StatefulRedisConnection<byte[], byte[]> connection, List<Request> group) {
    List<CompletableFuture<?>> sent = new ArrayList<>();
    for (Request each : group) {
      sent.add(each.call
          .apply(connection)
          .handle((answer, failure) -> answered(each, answer, failure))
          .toCompletableFuture());
    }
    return CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new))
        .thenCompose(all -> confirmed(connection.async(), group));
  }

  private boolean answered(
      Request request, @Nullable List<Object> answer, @Nullable Throwable failure) {
    request.failure = failure;
    if (answer != null && request.counts.test(answer)) {
      request.answer = answer;
    } else if (answer != null) {
      // nobody waits for the replicas' sake who was given nothing
      request.confirmed.complete(new Confirmed(answer, rule.wanted()));
    }
    return true;
  }

  private CompletionStage<Long> confirmed(
      RedisAsyncCommands<byte[], byte[]> redis, List<Request> group) {
    if (group.stream().anyMatch(each -> each.answer != null)) {
      return redis.waitForReplication(rule.wanted(), rule.limit().toMillis());
    }
    // the node hears of a failure: it may say that this is a replica now
    for (Request each : group) {
      Throwable failure = each.failure;
      if (failure != null) {
        return CompletableFuture.failedFuture(failure);
      }
    }
    return CompletableFuture.completedFuture((long) rule.wanted());
  }

  private void settle(Request request, @Nullable Long replicas, @Nullable Throwable failure) {
    List<Object> answer = request.answer;
    Throwable own = request.failure;
    if (own != null) {
      request.confirmed.completeExceptionally(RedisErrors.of(node.describe(), own));
    } else if (answer != null && replicas != null) {
      request.confirmed.complete(new Confirmed(answer, replicas));
    } else if (answer != null && failure instanceof StoreException said) {
      // the script was run; what failed is only the WAIT
      request.confirmed.completeExceptionally(
          new StoreException(String.valueOf(said.getMessage()), said.reason(), false, said));
    } else if (failure != null) {
      request.confirmed.completeExceptionally(failure);
    }
  }
}
