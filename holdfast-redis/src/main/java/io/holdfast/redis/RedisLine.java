// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One connection, and the next one after it broke.
 *
 * <pre>
 *   down --open()--> opening --prepared--> up --broke, or dropped--> opening ...
 *             ^          | failed, never was up: down; else again after a pause
 * </pre>
 *
 * <p>A connection that broke is closed, so that what was not answered on it fails and is never sent again. Fields are
 * guarded by {@link #lock}; {@link #current} is also read without it.
 */
final class RedisLine<C extends StatefulConnection<byte[], byte[]>> {
  private static final long PAUSE_NANOS = 10_000_000L;
  private static final int DOUBLINGS = 6;

  /** How long the first questions on a new connection may take, at least. */
  static final Duration LONGEST = Duration.ofSeconds(2);

  /**
   * What is done with a line, and who hears of it.
   *
   * @param prepare asks what has to be asked first; what it returns is run if the answer came in time, before the
   *     connection counts as up, and never beside another one of the same line: if it throws, it is as if that were refused
   * @param up another connection than the first is up
   */
  record Use<C>(
      RedisOpener<C> opener,
      Function<C, CompletionStage<Runnable>> prepare,
      Runnable up,
      Runnable down) {
    /** The same, where nothing is left to do once the first questions were answered. */
    static <C> Use<C> of(
        RedisOpener<C> opener,
        Function<C, ? extends CompletionStage<?>> prepare,
        Runnable up,
        Runnable down) {
      return new Use<>(
          opener, connection -> prepare.apply(connection).thenApply(ready -> () -> {}), up, down);
    }
  }

  private final StoreRuntime runtime;
  private final Use<C> use;
  private final RedisOpening<C> attempts;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable CompletableFuture<C> opening;
  private volatile @Nullable C current;
  private volatile @Nullable Throwable refusal;
  private boolean wasUp;
  private boolean closed;
  private boolean outdated;
  private int failures;

  RedisLine(StoreRuntime runtime, Use<C> use) {
    this.runtime = runtime;
    this.use = use;
    this.attempts = new RedisOpening<>(runtime, use.opener);
  }

  /** Returns the connection, or null if there is none just now. */
  @Nullable
  C current() {
    return current;
  }

  /** Returns why the last connection could not be opened; null if it could, or was not tried since. */
  @Nullable
  Throwable refusal() {
    return refusal;
  }

  /** Opens the first connection; also says when one that is being opened is up. */
  CompletionStage<C> open() {
    CompletableFuture<C> mine = new CompletableFuture<>();
    lock.lock();
    try {
      C up = current;
      if (up != null) {
        return CompletableFuture.completedFuture(up);
      }
      if (opening != null) {
        return opening;
      }
      if (closed) {
        return CompletableFuture.failedFuture(new RedisException("the store is closed"));
      }
      opening = mine;
    } finally {
      lock.unlock();
    }
    attempts.begin((connection, failure) -> {
      if (connection != null) {
        prepare(mine, connection);
      } else {
        failed(mine, failure == null ? new RedisException("no connection") : failure);
      }
    });
    return mine;
  }

  private void prepare(CompletableFuture<C> mine, C connection) {
    try {
      ask(mine, connection);
    } catch (RuntimeException | Error e) {
      // also where no memory or no class is there for it: who waits for the connection must hear of it
      RedisOpening.letGo(connection);
      failed(mine, e);
    }
  }

  private void ask(CompletableFuture<C> mine, C connection) {
    connection.addListener(new RedisConnectionStateListener() {
      @Override
      public void onRedisDisconnected(RedisChannelHandler<?, ?> broken) {
        drop(connection);
      }
    });
    // a server that takes a connection and then says nothing must not keep the next one from being opened
    Duration longest = firstAnswer(runtime);
    CompletionStage<?> prepared = Limit.on(
            use.prepare.apply(connection), runtime, longest, () -> silent(longest))
        .thenAccept(Runnable::run);
    prepared.whenComplete((ready, failure) -> {
      if (failure == null) {
        ready(mine, connection);
      } else {
        RedisOpening.letGo(connection);
        failed(mine, failure);
      }
    });
  }

  /** Returns how long the first questions may take: who has patience with requests has it with the first contact too. */
  static Duration firstAnswer(StoreRuntime runtime) {
    return Limit.longer(LONGEST, runtime.requestTimeout());
  }

  private static RedisException silent(Duration longest) {
    return new RedisCommandTimeoutException(
        "connected, but the server has not answered within " + DurationText.of(longest));
  }

  private void ready(CompletableFuture<C> mine, C connection) {
    boolean again;
    boolean late;
    lock.lock();
    try {
      again = wasUp;
      late = outdated;
      outdated = false;
      if (!closed) {
        current = connection;
        wasUp = true;
        failures = 0;
        refusal = null;
      }
      opening = null;
    } finally {
      lock.unlock();
    }
    if (!connection.equals(current)) {
      RedisOpening.letGo(connection);
      mine.completeExceptionally(new RedisException("the store is closed"));
      return;
    }
    mine.complete(connection);
    try {
      if (again) {
        use.up.run();
      }
    } finally {
      if (late || !connection.isOpen()) {
        // it broke, or was to be replaced, before there was anything to take back
        drop(connection);
      }
    }
  }

  private void failed(CompletableFuture<C> mine, Throwable failure) {
    long pause = -1;
    lock.lock();
    try {
      opening = null;
      outdated = false;
      refusal = failure;
      if (wasUp && !closed) {
        pause = PAUSE_NANOS << Math.min(failures++, DOUBLINGS);
      }
    } finally {
      lock.unlock();
    }
    mine.completeExceptionally(failure);
    if (pause >= 0) {
      reopenIn(pause);
    }
  }

  /** This connection is of no use any more: the next one is opened. */
  void drop(C connection) {
    lock.lock();
    try {
      if (!connection.equals(current)) {
        return;
      }
      current = null;
      if (closed) {
        return;
      }
    } finally {
      lock.unlock();
    }
    try {
      RedisOpening.letGo(connection);
      use.down.run();
    } finally {
      // whatever happened: nobody else opens the next one
      reopenIn(PAUSE_NANOS);
    }
  }

  /**
   * Another server is meant from now on: what is up is replaced; what is being opened is given up, and begun anew, or, if it
   * has come already, replaced as soon as it is up.
   */
  void replace() {
    C last;
    boolean begunAnew = attempts.again();
    lock.lock();
    try {
      outdated = !begunAnew && opening != null;
      last = begunAnew ? null : current;
    } finally {
      lock.unlock();
    }
    if (last != null) {
      drop(last);
    }
  }

  /** Not all clients at once: half of the pause is drawn. */
  private void reopenIn(long pauseNanos) {
    long half = pauseNanos / 2;
    long drawn = half + (long) (runtime.random().nextDouble() * half);
    runtime.scheduler().schedule(this::open, drawn);
  }

  /** Closes the connection; completes when that is done. */
  CompletableFuture<?> close() {
    C last;
    lock.lock();
    try {
      closed = true;
      last = current;
      current = null;
    } finally {
      lock.unlock();
    }
    return last == null ? CompletableFuture.completedFuture(true) : last.closeAsync();
  }
}
