// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
import io.holdfast.Moment;
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
import io.holdfast.testkit.history.Kind;
import io.holdfast.testkit.sim.Fates.Message;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One process's client of the {@link SimServer}: the store as the engine sees it. The verbs are in classes of their own. */
final class SimStore implements LockStore {
  private final SimWorld world;
  private final SimProcess process;
  private final SimClock clock;
  private final Guarantees guarantees;
  private final StoreTraits traits;
  private final SimAttempts attempts;
  private final SimKeeps keeps;
  private final SimEnds ends;
  private @Nullable StoreEvents events;
  private String client = "";
  private long epoch;

  /** When the store's clock was last heard of, and what it read. */
  private long heardNanos;

  private long heardMicros;

  /** What is known of claims that wait: from when a pushed grant counts. */
  private final Map<ClaimId, Waiting> waiting = new HashMap<>();

  /** The send moment of the last request that was answered "still queued", and the lock's revision then. */
  private record Waiting(Moment sent, long revision) {}

  SimStore(SimWorld world, SimProcess process) {
    this.world = world;
    this.process = process;
    this.clock = process.clock;
    this.attempts = new SimAttempts(this, process);
    this.keeps = new SimKeeps(this, process);
    this.ends = new SimEnds(this, process);
    Setup setup = world.setup;
    Set<Guarantee> given =
        Set.of(Guarantee.EXCLUDES_PROCESSES, Guarantee.EXCLUDES_MACHINES, Guarantee.FAIR);
    this.guarantees = new Guarantees(
        "simulated",
        given,
        Duration.ofMillis(10),
        Duration.ofDays(1),
        Duration.ZERO,
        Duration.ofNanos(setup.pollAtMost),
        List.of());
    this.traits = new StoreTraits(
        setup.queues, Duration.ofNanos(setup.waiterLease), Duration.ofNanos(setup.pollAtMost));
  }

  @Override
  public Guarantees guarantees() {
    return guarantees;
  }

  @Override
  public StoreTraits traits() {
    return traits;
  }

  @Override
  public String describe() {
    return "simulated:";
  }

  @Override
  public void start(StoreRuntime runtime, StoreEvents told) {
    this.client = runtime.client();
    this.events = told;
    world.knows(client, process);
  }

  @Override
  public CompletionStage<@Nullable Void> connect() {
    CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();
    world.network.<Long>send(
        process,
        Message.CONNECT,
        arrived -> world.server.micros(),
        micros -> {
          heard(micros);
          ready.complete(null);
        },
        ready::completeExceptionally);
    return ready;
  }

  @Override
  public Instant time() {
    long micros = heardMicros + (clock.nanos() - heardNanos) / 1_000;
    return Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1_000);
  }

  static long micros(Instant time) {
    return time.equals(Instant.MIN)
        ? Long.MIN_VALUE
        : time.getEpochSecond() * 1_000_000 + time.getNano() / 1_000;
  }

  /** An answer told the store's time. */
  void heard(long micros) {
    heardMicros = micros;
    heardNanos = clock.nanos();
  }

  // the verbs

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    return attempts.attempt(claim, mode, giveUpAt);
  }

  @Override
  public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
    return keeps.keep(claims);
  }

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    return ends.end(claim, keepFor, lastGiveUp);
  }

  // what the verbs share

  boolean anyUnanswered(Claim claim) {
    return attempts.anyUnanswered(claim.id());
  }

  long epoch() {
    return epoch;
  }

  /** What was sent before is not applied any more. */
  void raiseEpoch() {
    epoch++;
  }

  /** A request was answered "still queued". */
  void stillQueued(Claim claim, Reply reply, Moment sent) {
    waiting.put(claim.id(), new Waiting(sent, reply.revision()));
  }

  void forgetQueued(Claim claim) {
    waiting.remove(claim.id());
  }

  Grant grant(Claim claim, Reply reply, Moment sent) {
    process.granted(claim.id(), reply.revision());
    Moment anchor = world.flaw == Flaw.ANCHOR_AT_REPLY ? clock.now() : sent;
    return new Grant(reply.revision(), anchor, told(claim.lease()), reply.othersWait());
  }

  /** The engine takes its margin off what it is told. */
  private Duration told(Duration lease) {
    return world.flaw == Flaw.NO_MARGIN ? lease.plus(lease.dividedBy(99)).plusMillis(10) : lease;
  }

  // events

  /** The server says that a waiting claim was granted. */
  void pushed(ClaimId id, long revision, long lease) {
    Waiting since = waiting.get(id);
    StoreEvents told = Objects.requireNonNull(events);
    if (since == null) {
      told.lookAgain(id);
    } else if (revision > since.revision() || world.flaw == Flaw.STALE_PUSH_TAKEN) {
      Moment anchor = world.flaw == Flaw.PUSH_ANCHORED_AT_ARRIVAL ? clock.now() : since.sent();
      told.granted(id, new Grant(revision, anchor, told(Duration.ofNanos(lease)), true));
    }
  }

  /** The server says that a lock may be free. */
  void look(ClaimId id) {
    Objects.requireNonNull(events).lookAgain(id);
  }

  void disturbed() {
    world.record(Kind.DISTURBED, process.number, "", "", "", 0, 0, 0);
    Objects.requireNonNull(events).disturbed();
  }

  void restored() {
    Objects.requireNonNull(events).restored();
    Objects.requireNonNull(events).lookAgainAll();
  }

  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    CompletableFuture<Map<ClaimId, LockKey>> answer = new CompletableFuture<>();
    world.network.<Map<ClaimId, LockKey>>send(
        process,
        Message.OWN,
        arrived -> world.server.own(client),
        answer::complete,
        answer::completeExceptionally);
    return answer;
  }

  // what the simulator's load does not use

  @Override
  public CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    return CompletableFuture.completedFuture(Optional.empty());
  }

  @Override
  public CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return CompletableFuture.completedFuture(new LockPage(new ArrayList<>(), Optional.empty()));
  }

  @Override
  public CompletionStage<Boolean> evict(LockKey name, long revision) {
    return CompletableFuture.completedFuture(false);
  }

  @Override
  public CompletionStage<List<Finding>> diagnose() {
    return CompletableFuture.completedFuture(List.of());
  }

  @Override
  public List<String> schema() {
    return List.of();
  }

  @Override
  public void close() {
    // the process is done with it; what is on its way arrives all the same
  }
}
