// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The connection for commands to one server. It counts as up when the {@link FirstQuestion} was answered; a node of a
 * cluster without slots of its own, which is taking over its first, refuses that and is only asked for the time. An
 * answer that does not come is waited for; what that may mean is told to the {@link Listener}.
 */
final class RedisNode {
  /** How many request time-outs without any answer make a connection dead. */
  private static final int SILENCE = 3;

  private final String store;
  private final StoreRuntime runtime;
  private final RedisClock clock;
  private final FirstQuestion first;
  private final Listener listener;
  private final @Nullable RedisReplicas replicas;
  private final RedisLine<StatefulRedisConnection<byte[], byte[]>> commands;

  private final AtomicBoolean watching = new AtomicBoolean();
  private volatile @Nullable Traffic traffic;

  /** Hears what becomes of the connection. */
  interface Listener {
    /** There is a connection again. */
    void up();

    /** The connection broke. */
    void down();

    /** Nothing was answered for the time of a request. */
    default void silent() {}

    /** The server says that it is a replica, or is silent for long: look for another one. */
    void astray();
  }

  /** What is under way on one connection: requests without an answer, and since when there has been none. */
  private static final class Traffic {
    final StatefulRedisConnection<byte[], byte[]> connection;
    final AtomicInteger unanswered = new AtomicInteger();
    volatile long silentSince;

    Traffic(StatefulRedisConnection<byte[], byte[]> connection) {
      this.connection = connection;
    }
  }

  /** Makes one that is not open. */
  RedisNode(
      String store,
      StoreRuntime runtime,
      RedisOpener<StatefulRedisConnection<byte[], byte[]>> opener,
      FirstQuestion first,
      RedisClock clock,
      RedisReplicas.Rule rule,
      Listener listener) {
    this.store = store;
    this.runtime = runtime;
    this.clock = clock;
    this.first = first;
    this.listener = listener;
    this.commands = new RedisLine<>(
        runtime, new RedisLine.Use<>(opener, this::check, listener::up, listener::down));
    this.replicas = !rule.asks()
        ? null
        : new RedisReplicas(
            rule,
            new RedisNode(
                store, runtime, opener, first, clock, RedisReplicas.Rule.NONE, aside(listener)),
            runtime);
  }

  /** The connection beside it, on which replicas are waited for, has no word in whether the server can be reached. */
  private static Listener aside(Listener main) {
    return new Listener() {
      @Override
      public void up() {}

      @Override
      public void down() {}

      @Override
      public void astray() {
        main.astray();
      }
    };
  }

  private CompletionStage<Runnable> check(StatefulRedisConnection<byte[], byte[]> connection) {
    byte[][] of = first.keys.get();
    if (of == null) {
      return connection.async().time().thenApply(time -> {
        clock.heard(RedisAnswer.micros(time));
        return () -> {};
      });
    }
    return send(connection, first.script, of, first.arguments)
        .thenApply(answer -> () -> first.hears.accept(answer));
  }

  /** Opens the connection, if there is none. */
  CompletionStage<?> open() {
    CompletionStage<?> up = commands.open();
    return replicas == null ? up : up.thenCombine(replicas.open(), (one, other) -> one);
  }

  boolean isUp() {
    return commands.current() != null;
  }

  /** Opens another connection in the place of the present one. */
  void replace() {
    commands.replace();
    if (replicas != null) {
      replicas.replace();
    }
  }

  RedisClock clock() {
    return clock;
  }

  /** Returns what failures and findings call the server. */
  String describe() {
    return store;
  }

  /** Runs a script; its answer begins with the server's time. */
  CompletionStage<List<Object>> run(RedisScript script, byte[][] of, byte[]... arguments) {
    StatefulRedisConnection<byte[], byte[]> connection = commands.current();
    if (connection == null) {
      return CompletableFuture.failedFuture(RedisErrors.down(store, commands.refusal()));
    }
    Pending answer = new Asked(sent(connection));
    send(connection, script, of, arguments, answer);
    return answer;
  }

  /** Runs a script on a node that is taking over its keys. */
  CompletionStage<List<Object>> runAsking(RedisScript script, byte[][] of, byte[]... arguments) {
    StatefulRedisConnection<byte[], byte[]> connection = commands.current();
    if (connection == null) {
      return CompletableFuture.failedFuture(RedisErrors.down(store, commands.refusal()));
    }
    Pending answer = new Asked(sent(connection));
    asking(connection, script, of, arguments, answer);
    return answer;
  }

  /** Returns what waits for replicas; null if none are asked for. */
  @Nullable
  RedisReplicas replicas() {
    return replicas;
  }

  /** Sends a command; what fails is a failure of ours. */
  <T> CompletionStage<T> ask(
      Function<RedisAsyncCommands<byte[], byte[]>, CompletionStage<T>> command) {
    return askOn(connection -> command.apply(connection.async()));
  }

  /** Sends commands on the connection that is there now; what fails is a failure of ours. */
  <T> CompletionStage<T> askOn(
      Function<StatefulRedisConnection<byte[], byte[]>, CompletionStage<T>> command) {
    StatefulRedisConnection<byte[], byte[]> connection = commands.current();
    if (connection == null) {
      return CompletableFuture.failedFuture(RedisErrors.down(store, commands.refusal()));
    }
    Traffic on = sent(connection);
    CompletableFuture<T> answer = new CompletableFuture<>();
    applied(command, connection).whenComplete((value, failure) -> {
      answered(on);
      if (failure == null) {
        answer.complete(value);
      } else {
        answer.completeExceptionally(meaning(connection, failure));
      }
    });
    return answer;
  }

  private static <T> CompletionStage<T> applied(
      Function<StatefulRedisConnection<byte[], byte[]>, CompletionStage<T>> command,
      StatefulRedisConnection<byte[], byte[]> connection) {
    try {
      return command.apply(connection);
    } catch (RuntimeException | Error e) {
      // no memory for a command: an answer that never comes would count as missing for good
      return CompletableFuture.failedFuture(e);
    }
  }

  private RuntimeException meaning(
      StatefulRedisConnection<byte[], byte[]> connection, Throwable failure) {
    if (RedisErrors.isReadOnly(failure) && connection.equals(commands.current())) {
      listener.astray();
    }
    return RedisErrors.of(store, failure);
  }

  /** Sends a script on one certain connection. */
  CompletionStage<List<Object>> send(
      StatefulRedisConnection<byte[], byte[]> connection,
      RedisScript script,
      byte[][] of,
      byte[][] arguments) {
    Pending answer = new Pending();
    send(connection, script, of, arguments, answer);
    return answer;
  }

  /** The same, on a node that is taking over its keys. */
  CompletionStage<List<Object>> sendAsking(
      StatefulRedisConnection<byte[], byte[]> connection,
      RedisScript script,
      byte[][] of,
      byte[][] arguments) {
    Pending answer = new Pending();
    asking(connection, script, of, arguments, answer);
    return answer;
  }

  private static void asking(
      StatefulRedisConnection<byte[], byte[]> connection,
      RedisScript script,
      byte[][] of,
      byte[][] arguments,
      RedisCall.Reply answer) {
    // it counts for the next command alone; another one may come between, and this one is sent elsewhere again
    var unused = connection.async().asking();
    RedisCall.whole(script, of, arguments, answer).on(connection);
  }

  private void send(
      StatefulRedisConnection<byte[], byte[]> connection,
      RedisScript script,
      byte[][] of,
      byte[][] arguments,
      Pending answer) {
    if (script.keepsOrder()) {
      RedisCall.whole(script, of, arguments, answer).on(connection);
      return;
    }
    RedisCall call = RedisCall.named(script, of, arguments, (value, failure) -> {
      if (failure != null && RedisErrors.isNoScript(failure)) {
        // it was not run, so that sending it is no repetition; the server knows it from now on
        RedisCall.whole(script, of, arguments, answer).on(connection);
      } else {
        answer.done(value, failure);
      }
    });
    call.on(connection);
  }

  /** The answer of a script, as it is while a connection is being prepared. */
  private class Pending extends CompletableFuture<List<Object>> implements RedisCall.Reply {
    @Override
    public void done(@Nullable List<Object> value, @Nullable Throwable failure) {
      if (value == null) {
        completeExceptionally(Objects.requireNonNull(failure));
        return;
      }
      try {
        clock.heard(RedisAnswer.now(value));
        complete(value);
      } catch (RuntimeException e) {
        completeExceptionally(e);
      }
    }
  }

  /** The answer of a script on the connection in use: its coming is noted, and what fails is a failure of ours. */
  private final class Asked extends Pending {
    private final Traffic on;

    Asked(Traffic on) {
      this.on = on;
    }

    @Override
    public void done(@Nullable List<Object> value, @Nullable Throwable failure) {
      answered(on);
      super.done(value, failure == null ? null : meaning(on.connection, failure));
    }
  }

  private Traffic sent(StatefulRedisConnection<byte[], byte[]> connection) {
    Traffic current = traffic;
    if (current == null || !current.connection.equals(connection)) {
      // two threads may both make one; what is counted in the other is only not watched
      current = new Traffic(connection);
      traffic = current;
    }
    if (current.unanswered.getAndIncrement() == 0) {
      current.silentSince = runtime.ticker().nanos();
    }
    if (watching.compareAndSet(false, true)) {
      watch();
    }
    return current;
  }

  private void answered(Traffic on) {
    on.silentSince = runtime.ticker().nanos();
    on.unanswered.decrementAndGet();
  }

  /** Nothing tells that the other end of a connection has vanished, while we wait for its answers: so it is guessed. */
  private void watch() {
    runtime.scheduler().schedule(this::look, runtime.requestTimeout().toNanos());
  }

  private void look() {
    Traffic current = traffic;
    if (current == null
        || !current.connection.equals(commands.current())
        || current.unanswered.get() == 0) {
      watching.set(false);
      return;
    }
    long limit = runtime.requestTimeout().toNanos();
    long silence = runtime.ticker().nanos() - current.silentSince;
    try {
      if (silence > limit * SILENCE) {
        listener.astray();
      } else if (silence > limit) {
        listener.silent();
      }
    } finally {
      watch();
    }
  }

  /** Closes the connection; completes when that is done. */
  CompletableFuture<?> close() {
    CompletableFuture<?> closed = commands.close();
    return replicas == null ? closed : CompletableFuture.allOf(closed, replicas.close());
  }
}
