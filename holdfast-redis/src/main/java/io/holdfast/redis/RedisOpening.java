// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Scheduler.Scheduled;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Attempts to open a connection, of which the newest counts. What is opened by one that was given up is closed. An
 * application's client may wait for a server that has died for as long as it likes, so that such an attempt is also given
 * up after a while.
 */
final class RedisOpening<C extends StatefulConnection<?, ?>> {
  /** How long an application's client may take, at least. */
  private static final Duration LENT = Duration.ofSeconds(5);

  /** So many may be under way: more than come together in the minute that the driver's client waits by default. */
  private static final int MOST = 16;

  private final StoreRuntime runtime;
  private final RedisOpener<C> opener;
  private final AtomicInteger underWay = new AtomicInteger();
  private final AtomicReference<@Nullable Attempt> awaited = new AtomicReference<>();

  /** Hears how it ended. */
  interface Then<C> {
    /** Either is null. */
    void opened(@Nullable C connection, @Nullable Throwable failure);
  }

  RedisOpening(StoreRuntime runtime, RedisOpener<C> opener) {
    this.runtime = runtime;
    this.opener = opener;
  }

  /**
   * Begins an attempt.
   *
   * @param then is given the connection, or the failure, once
   */
  void begin(Then<C> then) {
    Attempt first = new Attempt(then);
    awaited.set(first);
    first.begin();
  }

  /** Begins anew in the place of the attempt that is awaited; says whether there is one. */
  boolean again() {
    Attempt before = awaited.get();
    if (before == null) {
      return false;
    }
    Attempt next = new Attempt(before.then);
    if (awaited.compareAndSet(before, next)) {
      next.begin();
      return true;
    }
    return awaited.get() != null;
  }

  /** Nobody waits for a connection any more, and nothing is left to do if that fails. */
  static void letGo(StatefulConnection<?, ?> connection) {
    var unused = connection.closeAsync();
  }

  private final class Attempt {
    final Then<C> then;

    Attempt(Then<C> then) {
      this.then = then;
    }

    void begin() {
      Scheduled alarm = opener.isLent() ? alarm() : () -> {};
      opened().whenComplete((connection, failure) -> {
        alarm.cancel();
        underWay.decrementAndGet();
        if (counts()) {
          then.opened(connection, failure);
        } else if (failure == null) {
          letGo(connection);
        }
      });
    }

    /** Whether it is the one that is awaited; it is so only once. */
    private boolean counts() {
      return awaited.compareAndSet(this, null);
    }

    private Scheduled alarm() {
      Duration longest = Limit.longer(LENT, runtime.requestTimeout().multipliedBy(2));
      Runnable late = () -> {
        if (counts()) {
          String message = "the client has not connected within " + DurationText.of(longest);
          then.opened(null, new RedisCommandTimeoutException(message));
        }
      };
      return runtime.scheduler().schedule(late, longest.toNanos());
    }

    private CompletionStage<C> opened() {
      if (underWay.incrementAndGet() > MOST) {
        return CompletableFuture.failedFuture(
            new RedisException(MOST + " connections are being opened, and none has come"));
      }
      try {
        return opener.open();
      } catch (RuntimeException | Error e) {
        // also a driver whose classes cannot be loaded
        return CompletableFuture.failedFuture(e);
      }
    }
  }
}
