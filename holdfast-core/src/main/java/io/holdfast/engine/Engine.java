// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.ConfigurationException;
import io.holdfast.DistributedLock;
import io.holdfast.Guarantees;
import io.holdfast.Holdfast;
import io.holdfast.LockAdmin;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreTraits;
import java.lang.System.Logger.Level;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One client: lanes by name, claims by number, one timer, one keeper of leases. Everything that happens does so in a
 * {@link Lane}; this class connects lanes, store and callers.
 */
final class Engine implements Holdfast {
  static final CompletableFuture<Boolean> YES = CompletableFuture.completedFuture(true);
  static final CompletableFuture<Boolean> NO = CompletableFuture.completedFuture(false);
  final LockStore store;
  final StoreTraits traits;
  final Guarantees guarantees;
  final long granularityNanos;
  final Ticker ticker;
  final Timer timer;
  final LeaseKeeper keeper;
  final Reconciler reconciler;
  final Callbacks callbacks;
  /** Handles of holds that were dropped unreleased. */
  final ReferenceQueue<EngineHold> dropped = new ReferenceQueue<>();

  final OwnedLocks owned = new OwnedLocks();
  final long storeRetryNanos;
  final long renewalPhaseNanos;

  /** The simulator's eye; null in production. */
  final @Nullable EngineTrace trace;

  private final EngineSettings settings;
  private final Listeners listeners;
  private final Connection connection;
  private final long requestTimeoutNanos;
  private final Lanes lanes = new Lanes(this);

  /** Its claims. */
  final Registry registry;

  /** How the store answered last: before the call returned, or after. */
  private volatile boolean answersAtOnce;

  private final AtomicBoolean closed = new AtomicBoolean();

  Engine(EngineSettings settings) {
    this.settings = settings;
    this.trace = settings.trace();
    this.store = settings.store();
    this.traits = store.traits();
    this.guarantees = store.guarantees();
    this.granularityNanos = guarantees.granularity().toNanos();
    this.ticker = settings.ticker();
    this.keeper = new LeaseKeeper(this);
    this.timer = new Timer(ticker, settings.scheduler(), this::afterTick, Engine::late);
    this.callbacks = settings.callbacks();
    this.listeners = new Listeners(settings.listeners(), callbacks);
    this.storeRetryNanos = Checks.waitNanos(settings.storeRetryFor());
    this.renewalPhaseNanos = (long) (settings.random().nextDouble() * 1_000_000_000L);
    this.requestTimeoutNanos = settings.requestTimeout().toNanos();
    this.connection = new Connection(this);
    this.reconciler = new Reconciler(this);
    this.registry = new Registry(settings, new Recovery(this));
    store.start(settings.runtime(), registry);
  }

  private void afterTick() {
    Guard.run(keeper::flushNow);
    Handle.releaseDropped(dropped);
  }

  private static void late(long nanos) {
    Log.log(
        Level.WARNING,
        "the timer ran {0} ms late: the process was paused or starved; leases were not renewed"
            + " meanwhile",
        nanos / 1_000_000);
  }

  /** Says how the last attempt was answered. */
  void answersAtOnce(boolean now) {
    if (answersAtOnce != now) {
      answersAtOnce = now;
    }
  }

  /** Whether attempts are answered before their calls return, as by a store in this process. */
  boolean answersAtOnce() {
    return answersAtOnce;
  }

  // users

  @Override
  public DistributedLock lock(String name) {
    return lock(name, settings.defaultOptions());
  }

  @Override
  public DistributedLock lock(String name, LockOptions options) {
    return new EngineLock(lanes.of(LockKey.of(name)), options);
  }

  @Override
  public LockAdmin admin() {
    return new EngineAdmin(this);
  }

  @Override
  public Guarantees guarantees() {
    return guarantees;
  }

  /** Contacts the store and waits until it is usable, or the time is over. */
  void connect(Duration timeout) {
    connection.connectNow(timeout.toNanos());
  }

  boolean isClosed() {
    return closed.get();
  }

  static IllegalStateException closedException() {
    return new IllegalStateException("this Holdfast is closed; connect a new one");
  }

  /** Refuses options that the store cannot give. */
  void check(LockOptions options, LockKey key) {
    Duration lease = options.leaseFor();
    if (lease.compareTo(guarantees.shortestLease()) < 0
        || lease.compareTo(guarantees.longestLease()) > 0) {
      throw new IllegalArgumentException(
          "leaseFor must be between " + DurationText.exact(guarantees.shortestLease()) + " and "
              + DurationText.exact(guarantees.longestLease()) + " on " + store.describe() + ", not "
              + DurationText.exact(lease));
    }
    if (options.holdAtLeast().compareTo(guarantees.longestHoldAtLeast()) > 0) {
      throw new IllegalArgumentException("holdAtLeast must not be longer than "
          + DurationText.exact(guarantees.longestHoldAtLeast()) + " on " + store.describe()
          + ", not " + DurationText.exact(options.holdAtLeast()));
    }
    if (options.fair() && !guarantees.given().contains(io.holdfast.Guarantee.FAIR)) {
      throw new ConfigurationException(
          "store " + store.describe() + " cannot be fair between processes; drop fair(true) or"
              + " choose another store",
          key.name(),
          store.describe(),
          null);
    }
  }

  /** For a log. Locks of lanes are had for a moment only: nothing is asked and nothing runs under them. */
  @Override
  public String toString() {
    String text = "Holdfast \"" + settings.clientName() + "\" on " + store.describe() + ", ";
    if (isClosed()) {
      return text + "closed";
    }
    long holds = lanes.all().stream().filter(Lane::isHeld).count();
    return text + holds + (holds == 1 ? " hold" : " holds");
  }

  // shared

  String clientId() {
    return settings.clientId();
  }

  long requestNanos(Claim claim) {
    return Validity.requestNanos(requestTimeoutNanos, claim.lease().toNanos());
  }

  long requestTimeoutNanos() {
    return requestTimeoutNanos;
  }

  long refreshNanos() {
    return jitter(traits.waiterLease().toNanos() / 3);
  }

  /** Shortens a pause by up to a quarter, so that clients do not march in step. */
  long jitter(long nanos) {
    return nanos - (long) (settings.random().nextDouble() * (nanos >> 2));
  }

  boolean hasListeners() {
    return !listeners.isEmpty();
  }

  void tell(Later later, Supplier<LockEvent> event) {
    if (hasListeners()) {
      // queued here, under the lane's lock, so that listeners hear of a release before the next grant
      listeners.add(event.get());
      later.add(listeners.drain);
    }
  }

  // the store, with what it throws as a failed stage

  boolean isConnected() {
    return connection.isConnected();
  }

  /** Completes when the first contact with the store was made; fails if it was not. */
  CompletionStage<Boolean> contact() {
    return connection.call(() -> YES);
  }

  CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    return connection.call(() -> store.attempt(claim, mode, giveUpAt));
  }

  CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> some) {
    return connection.call(() -> store.keep(some));
  }

  CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    return connection.call(() -> store.end(claim, keepFor, lastGiveUp));
  }

  <T> CompletionStage<T> ask(Supplier<CompletionStage<T>> verb) {
    return connection.call(verb);
  }

  /** Why a request was not answered in its time, if that is known. */
  @Nullable
  Throwable unanswered() {
    return connection.unanswered(requestTimeoutNanos);
  }

  // closing

  @Override
  public void close() {
    CompletableFuture<?> ended = beginClose();
    if (ended != null) {
      Waiting.quietly(ended, requestTimeoutNanos);
      finishClose();
    }
  }

  /**
   * Makes all holds invalid, fails all requests and sends all ends.
   *
   * @return completes with the first answers to the ends, which are worth waiting for up to the request's time; null if
   *     it was closed before
   */
  @Nullable
  CompletableFuture<?> beginClose() {
    if (!closed.compareAndSet(false, true)) {
      return null;
    }
    lanes.all().forEach(Lane::invalidate);
    List<CompletableFuture<Boolean>> ends = new ArrayList<>();
    for (Claimant claimant : registry.all()) {
      ends.add(claimant.close());
    }
    return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
  }

  /** Stops timer and store, whatever was answered. */
  void finishClose() {
    timer.close();
    registry.all().forEach(Claimant::giveUpEnding);
    store.close();
    settings.closeOwn();
  }
}
