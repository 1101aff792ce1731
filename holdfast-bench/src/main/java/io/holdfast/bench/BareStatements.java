// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.Holder;
import io.holdfast.LossReason;
import io.holdfast.Ticker;
import io.holdfast.measure.Contention;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.spi.Stores;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The two statements of our store on its own connections, each on the thread that wants it: without our engine. */
final class BareStatements implements Peer {
  private static final Duration LEASE = Duration.ofSeconds(30);

  /** At most 5 s: for a longer request time-out the store lends the caller no connection, and wakes a worker. */
  private static final Duration REQUEST = Duration.ofSeconds(5);

  private static final String CLIENT = "0123456789abcdef0123456789abcdef";

  /** Nobody waits, so that there is nothing to be told. */
  private static final StoreEvents NOBODY = new StoreEvents() {
    @Override
    public void granted(ClaimId claim, Grant grant) {}

    @Override
    public void lookAgain(ClaimId claim) {}

    @Override
    public void lookAgainAll() {}

    @Override
    public void disturbed() {}

    @Override
    public void restored() {}

    @Override
    public void lost(ClaimId claim, LossReason reason) {}
  };

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final LockStore store;
  private final AtomicLong count = new AtomicLong();

  BareStatements(String uri) {
    store = Stores.open(uri);
    StoreRuntime runtime = new StoreRuntime(
        CLIENT,
        Ticker.system(),
        (task, delayNanos) -> {
          ScheduledFuture<?> future = timer.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
          return () -> future.cancel(false);
        },
        new Random(),
        REQUEST,
        () -> true);
    store.start(runtime, NOBODY);
    store.connect().toCompletableFuture().join();
  }

  @Override
  public Contention.Guard lock(String name) {
    LockKey key = LockKey.of(name);
    Holder holder = new Holder("client", "host", 1, "thread", "");
    return inside -> {
      Claim claim =
          new Claim(new ClaimId(CLIENT, count.getAndIncrement()), key, 1, 1, LEASE, false, holder);
      Instant giveUp = store.time().plus(REQUEST);
      Answer answer =
          store.attempt(claim, Mode.QUEUE, giveUp).toCompletableFuture().join();
      if (!(answer instanceof Answer.Granted)) {
        throw new IllegalStateException("not granted: " + answer);
      }
      inside.run();
      Ended ended =
          store.end(claim, Duration.ZERO, giveUp).toCompletableFuture().join();
      if (ended.outcome() != Ended.Outcome.RELEASED) {
        throw new IllegalStateException("not released: " + ended);
      }
    };
  }

  @Override
  public void close() {
    store.close();
    timer.shutdownNow();
  }
}
