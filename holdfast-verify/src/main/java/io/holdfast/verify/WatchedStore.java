// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
import io.holdfast.LossReason;
import io.holdfast.Ticker;
import io.holdfast.Waiters;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.spi.StoreTraits;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Another store, and a look at its renewals: one at a time for a claim, and none after its end was begun. */
final class WatchedStore implements LockStore {
  /** Is told of each renewal of a hold. */
  interface Renewals {
    /** Hears nothing. */
    Renewals UNHEARD = new Renewals() {
      @Override
      public void sent() {
        // for what renews nothing
      }

      @Override
      public void sentWrongly(String why) {
        // for what renews nothing
      }
    };

    /** It was sent as it should be. */
    void sent();

    /** It should not have been sent; {@code why} says so in words. */
    void sentWrongly(String why);
  }

  /** What a request may take of a lease; it is given up then, and asked again. */
  private static final int THIRD = 3;

  /** A renewal that has used half of its time counts as over: what is late here was not late there, on a busy machine. */
  private static final int HALF = 2;

  private final LockStore store;
  private final Renewals renewals;
  private final Map<ClaimId, Long> underWaySince = new ConcurrentHashMap<>();
  private final Map<ClaimId, Long> endingSince = new ConcurrentHashMap<>();
  private long requestNanos;
  private Ticker ticker = Ticker.system();

  WatchedStore(LockStore store, Renewals renewals) {
    this.store = store;
    this.renewals = renewals;
  }

  @Override
  public void start(StoreRuntime runtime, StoreEvents events) {
    ticker = runtime.ticker();
    requestNanos = runtime.requestTimeout().toNanos();
    store.start(runtime, new Disturbances(events));
  }

  @Override
  public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
    long now = ticker.nanos();
    List<String> wrong = new ArrayList<>();
    for (Claim each : claims) {
      long requestTakes = Math.min(requestNanos, each.lease().toNanos() / THIRD);
      // one may be on its way here when the end begins: an engine that goes on to renew is meant
      Long ended = endingSince.get(each.id());
      Long before = underWaySince.put(each.id(), now);
      if (ended != null && now - ended > requestTakes) {
        wrong.add("renewed after its end was begun: " + each.id());
      } else if (before != null && now - before < requestTakes / HALF) {
        wrong.add("renewed while a renewal was under way: " + each.id());
      }
    }
    CompletionStage<Map<ClaimId, Kept>> kept = store.keep(claims);
    // told afterwards: it must not delay what it tells of
    wrong.forEach(renewals::sentWrongly);
    for (int right = claims.size() - wrong.size(); right > 0; right--) {
      renewals.sent();
    }
    return kept.whenComplete(
        (answer, failure) -> claims.forEach(each -> underWaySince.remove(each.id(), (Long) now)));
  }

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    endingSince.putIfAbsent(claim.id(), ticker.nanos());
    return store.end(claim, keepFor, lastGiveUp);
  }

  @Override
  public Guarantees guarantees() {
    return store.guarantees();
  }

  @Override
  public StoreTraits traits() {
    return store.traits();
  }

  @Override
  public String describe() {
    return store.describe();
  }

  @Override
  public CompletionStage<@Nullable Void> connect() {
    return store.connect();
  }

  @Override
  public Instant time() {
    return store.time();
  }

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    return store.attempt(claim, mode, giveUpAt);
  }

  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    return store.own();
  }

  @Override
  public CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    return store.inspect(name);
  }

  @Override
  public Waiters waitersOfFreeLock() {
    return store.waitersOfFreeLock();
  }

  @Override
  public CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return store.list(prefix, page);
  }

  @Override
  public CompletionStage<Boolean> evict(LockKey name, long revision) {
    return store.evict(name, revision);
  }

  @Override
  public CompletionStage<List<Finding>> diagnose() {
    return store.diagnose();
  }

  @Override
  public List<String> schema() {
    return store.schema();
  }

  @Override
  public List<String> dataSchema() {
    return store.dataSchema();
  }

  @Override
  public void close() {
    store.close();
  }

  /** A connection that broke takes what was under way on it along. */
  private final class Disturbances implements StoreEvents {
    private final StoreEvents events;

    Disturbances(StoreEvents events) {
      this.events = events;
    }

    @Override
    public void disturbed() {
      underWaySince.clear();
      events.disturbed();
    }

    @Override
    public void granted(ClaimId claim, Grant grant) {
      events.granted(claim, grant);
    }

    @Override
    public void lookAgain(ClaimId claim) {
      events.lookAgain(claim);
    }

    @Override
    public void lookAgainAll() {
      events.lookAgainAll();
    }

    @Override
    public void restored() {
      events.restored();
    }

    @Override
    public void lost(ClaimId claim, LossReason reason) {
      events.lost(claim, reason);
    }
  }
}
