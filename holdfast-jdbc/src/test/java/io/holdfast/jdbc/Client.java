// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Holder;
import io.holdfast.LossReason;
import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A started store with a client id of its own, driven through the SPI as an engine would. */
final class Client implements AutoCloseable {
  static final Duration LEASE = Duration.ofSeconds(30);

  /** How long a request may take: longer than a busy machine stands still, and no longer than connections are lent. */
  static final Duration TIMEOUT = Duration.ofSeconds(5);

  private static final AtomicInteger CLIENTS = new AtomicInteger();

  final String id =
      String.format("%024x%08x", ProcessHandle.current().pid(), CLIENTS.incrementAndGet());
  final LockStore store;
  final Ticker ticker;
  final BlockingQueue<ClaimId> told = new LinkedBlockingQueue<>();
  final AtomicInteger toldAll = new AtomicInteger();
  final AtomicInteger timers = new AtomicInteger();
  private final AtomicLong claims = new AtomicLong();
  private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);

  Client(Path file) {
    this(file, Ticker.system());
  }

  Client(Path file, Ticker ticker) {
    this("sqlite:" + file, ticker);
  }

  private final AtomicInteger asked = new AtomicInteger();

  /** Whether every other caller has nothing to do until it is answered: the store may then block it. */
  volatile boolean waits;

  Client(String address, Ticker ticker) {
    this(address, ticker, TIMEOUT);
  }

  Client(String address, Ticker ticker, Duration requestTimeout) {
    this.ticker = ticker;
    StoreAddress parsed = StoreAddress.parse(address);
    store = parsed.scheme().endsWith("sqlite")
        ? new SqliteStoreFactory().open(parsed)
        : new JdbcStoreFactory().open(parsed);
    timer.setRemoveOnCancelPolicy(true);
    store.start(
        new StoreRuntime(
            id,
            ticker,
            this::schedule,
            new SplittableRandom(CLIENTS.get()),
            requestTimeout,
            () -> waits && asked.incrementAndGet() % 2 == 0),
        new Events());
  }

  private Scheduler.Scheduled schedule(Runnable task, long delayNanos) {
    timers.incrementAndGet();
    ScheduledFuture<?> future = timer.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
    return () -> future.cancel(false);
  }

  Client connect() {
    get(store.connect());
    return this;
  }

  Claim claim(String name) {
    return claim(name, LEASE, false);
  }

  Claim fair(String name) {
    return claim(name, LEASE, true);
  }

  Claim claim(String name, Duration lease, boolean fair) {
    return new Claim(
        new ClaimId(id, claims.incrementAndGet()),
        LockKey.of(name),
        1,
        1,
        lease,
        fair,
        new Holder("tester", "host-1", 4711, "main", "a note"));
  }

  Instant soon() {
    return store.time().plus(TIMEOUT);
  }

  Answer attempt(Claim claim, Mode mode) {
    return get(store.attempt(claim, mode, soon()));
  }

  Grant granted(Claim claim) {
    return ((Answer.Granted) attempt(claim, Mode.QUEUE)).grant();
  }

  Answer.Busy busy(Claim claim) {
    return (Answer.Busy) attempt(claim, Mode.QUEUE);
  }

  Kept keep(Claim claim) {
    Map<ClaimId, Kept> kept = get(store.keep(List.of(claim)));
    return Objects.requireNonNull(kept.get(claim.id()));
  }

  Ended end(Claim claim) {
    return end(claim, Duration.ZERO);
  }

  Ended end(Claim claim, Duration keepFor) {
    return get(store.end(claim, keepFor, store.time()));
  }

  /** Waits for a stage; what it fails with is thrown as it is. */
  static <T extends @Nullable Object> T get(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause
          && !(e.getCause() instanceof CompletionException)) {
        throw cause;
      }
      if (e.getCause() instanceof TimeoutException) {
        throw new AssertionError("no answer within 20 s", e);
      }
      throw e;
    }
  }

  @Override
  public void close() {
    store.close();
    timer.shutdownNow();
  }

  private final class Events implements StoreEvents {
    @Override
    public void granted(ClaimId claim, Grant grant) {
      throw new AssertionError("nothing is granted unasked");
    }

    @Override
    public void lookAgain(ClaimId claim) {
      told.add(claim);
    }

    @Override
    public void lookAgainAll() {
      toldAll.incrementAndGet();
    }

    @Override
    public void disturbed() {}

    @Override
    public void restored() {}

    @Override
    public void lost(ClaimId claim, LossReason reason) {
      throw new AssertionError("nothing is lost unasked");
    }
  }
}
