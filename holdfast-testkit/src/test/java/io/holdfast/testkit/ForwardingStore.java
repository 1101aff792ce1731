// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Finding;
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
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Passes everything on: to be extended by a store that is wrong in one verb. */
class ForwardingStore implements LockStore {
  private final LockStore to;

  ForwardingStore(LockStore to) {
    this.to = to;
  }

  @Override
  public Guarantees guarantees() {
    return to.guarantees();
  }

  @Override
  public StoreTraits traits() {
    return to.traits();
  }

  @Override
  public String describe() {
    return to.describe();
  }

  @Override
  public void start(StoreRuntime runtime, StoreEvents events) {
    to.start(runtime, events);
  }

  @Override
  public CompletionStage<@Nullable Void> connect() {
    return to.connect();
  }

  @Override
  public Instant time() {
    return to.time();
  }

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    return to.attempt(claim, mode, giveUpAt);
  }

  @Override
  public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
    return to.keep(claims);
  }

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    return to.end(claim, keepFor, lastGiveUp);
  }

  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    return to.own();
  }

  @Override
  public CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    return to.inspect(name);
  }

  @Override
  public Waiters waitersOfFreeLock() {
    return to.waitersOfFreeLock();
  }

  @Override
  public CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return to.list(prefix, page);
  }

  @Override
  public CompletionStage<Boolean> evict(LockKey name, long revision) {
    return to.evict(name, revision);
  }

  @Override
  public CompletionStage<List<Finding>> diagnose() {
    return to.diagnose();
  }

  @Override
  public List<String> schema() {
    return to.schema();
  }

  @Override
  public void close() {
    to.close();
  }
}
