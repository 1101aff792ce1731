// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
import io.holdfast.Moment;
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
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.spi.StoreTraits;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Locks in a Consul cluster. It is made from an address, as in {@code Holdfast.connect("consul://localhost:8500")}; see {@link
 * ConsulStoreFactory}.
 *
 * <pre>
 *   attempt                -> ConsulAttempt -> one transaction: nobody has it, lock it
 *   keep                   -> ConsulKeeper  -> one renewal for each session, reads of the keys
 *   end                    -> ConsulEnding  -> one transaction: it is as we left it, delete it
 *   inspect, list, evict   -> ConsulAdmin
 *   lookAgain              &lt;- ConsulWait    &lt;- blocking queries on the key
 * </pre>
 *
 * <p>A lock is a key that a session has locked. All claims of a client with leases of one length share a session. The index
 * of the transaction that locked the key is the grant's revision. There is no queue: a released lock goes to whoever asks
 * first.
 *
 * <h2>Guarantees</h2>
 *
 * {@link #guarantees()} says what is given and what is not.
 *
 * <h2>Time</h2>
 *
 * Consul has no clock to ask; its sessions run on the leader's monotonic one. A session's deadline here is counted from the
 * moment before the last acknowledged request was sent that began or renewed it. The server ends it up to as long again
 * later, and gives its locks to nobody for the lock-delay.
 *
 * <h2>Failure</h2>
 *
 * What no agent could be reached for was not sent. A request that was under way when its connection broke, or that was
 * answered with an error of the servers, is unknown; what is then withdrawn is called off for good.
 */
public final class ConsulStore implements LockStore {
  /** A waiter asks again from time to time, should a word be missed: three times in this. */
  private static final Duration WAITER_LEASE = Duration.ofSeconds(30);

  /** For so many times the time of a request the first question is asked again. */
  private static final int FIRST_TIMES = 3;

  /** How long others, who were told, need to ask. */
  private static final Duration OTHERS_TURN = Duration.ofMillis(50);

  /** How long the end of the store waits for that of its sessions, which end by themselves otherwise. */
  private static final Duration FAREWELL = Duration.ofSeconds(1);

  private static final StoreTraits TRAITS = new StoreTraits(false, WAITER_LEASE, OTHERS_TURN);

  private final String store;
  private final ConsulAddress agents;
  private final Guarantees guarantees;
  private volatile @Nullable Started started;

  /** What works once the store was started. */
  private record Started(
      ConsulContext context,
      ConsulKeeper keeper,
      ConsulEnding ending,
      ConsulAdmin admin,
      ConsulDoctor doctor) {}

  private ConsulStore(String store, ConsulAddress agents) {
    this.store = store;
    this.agents = agents;
    this.guarantees = ConsulGuarantees.of(agents.settings());
  }

  static ConsulStore at(StoreAddress address) {
    return new ConsulStore(address.toString(), new ConsulAddress(address));
  }

  @Override
  public Guarantees guarantees() {
    return guarantees;
  }

  @Override
  public StoreTraits traits() {
    return TRAITS;
  }

  @Override
  public String describe() {
    return store;
  }

  @Override
  public void start(StoreRuntime runtime, StoreEvents events) {
    if (started != null) {
      throw new IllegalStateException("a store is started once");
    }
    ConsulCalls calls = new ConsulCalls(store, agents, runtime.requestTimeout(), events);
    ConsulContext context = new ConsulContext(calls, agents.settings(), runtime, events);
    started = new Started(
        context,
        new ConsulKeeper(context),
        new ConsulEnding(context),
        new ConsulAdmin(context),
        new ConsulDoctor(context, agents.isTls()));
  }

  private Started started() {
    Started now = started;
    if (now == null) {
      throw new IllegalStateException("the store was not started");
    }
    return now;
  }

  /** Asks for something that needs the right to write, and writes nothing. */
  @Override
  public CompletionStage<@Nullable Void> connect() {
    ConsulContext context = started().context();
    return first(context, context.runtime.ticker().now())
        .exceptionallyCompose(context.calls::withRefusal)
        .<@Nullable Void>thenApply(seen -> null);
  }

  /**
   * What was not answered is asked again, which changes nothing: the agent may have stood still for a moment, or hang where
   * another one does not. The engine waits for it five times as long as for another request.
   */
  private static CompletableFuture<ConsulTxn.Answer> first(ConsulContext context, Moment asked) {
    return context
        .calls
        .txn(new ConsulTxn().isMissing(context.keys.locks()))
        .exceptionallyCompose(failure -> isWorthAsking(context, asked, failure)
            ? first(context, asked)
            : CompletableFuture.failedFuture(failure));
  }

  private static boolean isWorthAsking(ConsulContext context, Moment asked, Throwable failure) {
    return !context.isClosed()
        && ConsulErrors.isTimeout(failure)
        && context.runtime.ticker().elapsedNanos(asked)
            < FIRST_TIMES * context.runtime.requestTimeout().toNanos();
  }

  @Override
  public Instant time() {
    return started().context().clock.now();
  }

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    ConsulContext context = started().context();
    if (context.clock.isPast(giveUpAt)) {
      return CompletableFuture.completedFuture(new Answer.Late());
    }
    return ConsulAttempt.ask(context, claim, mode, giveUpAt);
  }

  @Override
  public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
    return claims.isEmpty()
        ? CompletableFuture.completedFuture(Map.of())
        : started().keeper().keep(List.copyOf(claims));
  }

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    return started().ending().end(claim, keepFor, lastGiveUp);
  }

  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    return started().admin().own();
  }

  @Override
  public CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    return started().admin().inspect(name);
  }

  @Override
  public CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return started().admin().list(prefix);
  }

  @Override
  public CompletionStage<Boolean> evict(LockKey name, long revision) {
    return started().admin().evict(name, revision);
  }

  @Override
  public CompletionStage<List<Finding>> diagnose() {
    return started().doctor().look();
  }

  @Override
  public List<String> schema() {
    return List.of();
  }

  /**
   * Ends the blocking queries, and the sessions that have no lock, for which it waits a moment: the program may end with it.
   * The connections go with the JDK's client, which nobody uses any more.
   */
  @Override
  public void close() {
    Started parts = started;
    if (parts != null && parts.context().close()) {
      CompletionStage<?> said = new ConsulFarewell(parts.context()).say();
      CountDownLatch isSaid = new CountDownLatch(1);
      said.whenComplete((done, failure) -> isSaid.countDown());
      try {
        isSaid.await(FAREWELL.toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        // what was asked is under way all the same
        Thread.currentThread().interrupt();
      }
    }
  }
}
