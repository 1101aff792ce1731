// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.ConfigurationException;
import io.holdfast.Ticker;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A store in memory that is odd on request. */
final class OddStore extends ForwardingStore {
  static final String LOCK = "job";

  private @Nullable StoreEvents events;
  volatile Duration grantsAreOldBy = Duration.ZERO;
  volatile boolean timeFails;
  boolean unusable;

  /** What attempts fail with, if that is set. */
  @Nullable
  StoreException failure;

  @Nullable
  ClaimId forgotten;

  /** What attempts are answered with, once it is complete, if that is set. */
  @Nullable
  CompletableFuture<Answer> answer;

  /** Runs before each end of a claim. */
  Runnable atEnd = () -> {};

  /** What this client has is looked up when it is asked for, and told when this is complete. */
  CompletableFuture<?> lists = CompletableFuture.completedFuture(true);

  /** What was attempted last. */
  @Nullable
  ClaimId attempted;

  /** An end of a claim, and until how long after its grant it was to keep the lock. */
  record End(ClaimId claim, Duration keepFor) {}

  final List<End> ended = new ArrayList<>();

  OddStore(MemoryDatabase database) {
    super(new MemoryStore(database));
  }

  @Override
  public void start(StoreRuntime runtime, StoreEvents told) {
    events = told;
    super.start(
        new StoreRuntime(
            runtime.client(),
            late(runtime.ticker()),
            runtime.scheduler(),
            runtime.random(),
            runtime.requestTimeout(),
            runtime.callerWaits()),
        told);
  }

  /** What the store in memory has a ticker for: from when its grants count, the answered and the pushed ones. */
  private Ticker late(Ticker ticker) {
    return new Ticker() {
      @Override
      public long nanos() {
        return ticker.nanos() - grantsAreOldBy.toNanos();
      }

      @Override
      public long wallMillis() {
        return ticker.wallMillis() - grantsAreOldBy.toMillis();
      }
    };
  }

  void restored() {
    Objects.requireNonNull(events).restored();
  }

  @Override
  public Instant time() {
    if (timeFails) {
      throw new IllegalStateException("no time for the test");
    }
    return super.time();
  }

  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    CompletionStage<Map<ClaimId, LockKey>> list = super.own().thenApply(own -> {
      Map<ClaimId, LockKey> all = new HashMap<>(own);
      if (forgotten != null) {
        all.put(forgotten, LockKey.of(LOCK));
      }
      return all;
    });
    return lists.thenCompose(told -> list);
  }

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    atEnd.run();
    ended.add(new End(claim.id(), keepFor));
    return super.end(claim, keepFor, lastGiveUp);
  }

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    if (unusable) {
      return CompletableFuture.failedFuture(
          new ConfigurationException("no store, for the test", "memory:", null));
    }
    if (failure != null) {
      return CompletableFuture.failedFuture(failure);
    }
    if (answer != null) {
      return answer;
    }
    attempted = claim.id();
    return super.attempt(claim, mode, giveUpAt);
  }
}
