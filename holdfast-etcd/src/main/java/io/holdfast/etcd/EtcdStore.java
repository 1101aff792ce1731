// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.Client;
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
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.spi.StoreTraits;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Locks in an etcd cluster. {@link #using(Client)} makes one on the application's own jetcd client; an address ({@code
 * etcd://localhost}) makes one with a client of its own.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.builder()
 *     .store(EtcdStore.using(client)) // stays open when the client of the locks is closed
 *     .build();
 * }</pre>
 *
 * <pre>
 *   attempt                -> EtcdAttempt -> one transaction: put the claim's key, read the queue
 *   keep                   -> EtcdKeeper  -> one keep-alive for each lease, reads of the keys
 *   end                    -> EtcdEnding  -> one transaction: delete the key
 *   inspect, list, evict   -> EtcdAdmin
 *   pushed grants          &lt;- EtcdWait    &lt;- a watch on the key before the waiter's own
 * </pre>
 *
 * <p>The keys of a lock are its queue: the claim with the oldest one, by create revision, holds it. That revision is the
 * grant's. All claims of a client with leases of one length share a lease of the server; claims that wait share one of 5 s.
 *
 * <h2>Guarantees</h2>
 *
 * {@link #guarantees()} says what is given and what is not.
 *
 * <h2>Time</h2>
 *
 * etcd has no clock to ask; its leases run on the leader's monotonic one. A lease's deadline here is counted from the moment
 * before the last acknowledged request was sent that began or renewed it.
 *
 * <h2>Failure</h2>
 *
 * Without a connection requests fail at once, as not sent; after 4.5 s if a member of the address takes connections and is
 * silent on them. A request that was under way when its connection broke, or that the cluster gave up waiting for, is unknown;
 * what is then withdrawn is called off for good in the same transaction.
 */
public final class EtcdStore implements LockStore {
  private static final StoreTraits TRAITS =
      new StoreTraits(true, EtcdContext.WAITER_LEASE, Duration.ZERO);

  private final String store;
  private final EtcdSettings settings;
  private final Supplier<EtcdClient> client;
  private final boolean tls;
  private volatile @Nullable Started started;

  /** What works once the store was started. */
  private record Started(
      EtcdContext context,
      EtcdKeeper keeper,
      EtcdEnding ending,
      EtcdAdmin admin,
      EtcdDoctor doctor) {}

  private EtcdStore(String store, EtcdSettings settings, Supplier<EtcdClient> client, boolean tls) {
    this.store = store;
    this.settings = settings;
    this.client = client;
    this.tls = tls;
  }

  /**
   * Makes a store on the application's own client, with the default settings. The client is left open by {@link #close()},
   * and must stay open until then.
   *
   * @param client a client
   * @return a store, not started
   */
  public static EtcdStore using(Client client) {
    return using(client, EtcdSettings.defaults());
  }

  /**
   * Makes a store on the application's own client, as {@link #using(Client)} does, with settings.
   *
   * @param client a client
   * @param settings how the locks are stored
   * @return a store, not started
   */
  public static EtcdStore using(Client client, EtcdSettings settings) {
    Objects.requireNonNull(client, "client");
    Objects.requireNonNull(settings, "settings");
    return new EtcdStore(
        "etcd (the application's client)", settings, () -> EtcdClient.given(client), false);
  }

  static EtcdStore at(StoreAddress address) {
    EtcdAddress servers = new EtcdAddress(address);
    return new EtcdStore(
        address.toString(),
        servers.settings(),
        servers::client,
        address.scheme().equals("etcds"));
  }

  @Override
  public Guarantees guarantees() {
    return EtcdGuarantees.ALL;
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
    EtcdCalls calls = new EtcdCalls(store, client.get(), events);
    EtcdContext context = new EtcdContext(calls, new EtcdKeys(settings.prefix()), runtime, events);
    started = new Started(
        context,
        new EtcdKeeper(context),
        new EtcdEnding(context),
        new EtcdAdmin(context),
        new EtcdDoctor(context, tls));
  }

  /** What its parts share. */
  EtcdContext context() {
    return started().context();
  }

  private Started started() {
    Started now = started;
    if (now == null) {
      throw new IllegalStateException("the store was not started");
    }
    return now;
  }

  @Override
  public CompletionStage<@Nullable Void> connect() {
    EtcdContext context = started().context();
    return context
        .calls
        .get(context.keys.under(""), EtcdContext.FIRST_KEY)
        .<@Nullable Void>thenApply(seen -> null);
  }

  @Override
  public Instant time() {
    return started().context().clock.now();
  }

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    EtcdContext context = started().context();
    if (context.clock.isPast(giveUpAt)) {
      return CompletableFuture.completedFuture(new Answer.Late());
    }
    EtcdClaim mine = context.asking(claim);
    return new EtcdAttempt(context, mine, mode, giveUpAt)
        .run()
        .whenComplete((answer, failure) -> context.answered(mine, nobodyEnds(answer, failure)));
  }

  /** Whether a claim that was answered so may be over without an end. */
  private static boolean nobodyEnds(@Nullable Answer answer, @Nullable Throwable failure) {
    return failure == null
        ? answer instanceof Answer.Late || (answer instanceof Answer.Busy busy && !busy.queued())
        : EtcdErrors.isNotApplied(failure);
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
  public Waiters waitersOfFreeLock() {
    return Waiters.exactly(0);
  }

  @Override
  public CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return started().admin().list(prefix, page);
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

  /** Closes the connections, if the client is the store's own; what is under way on them fails. */
  @Override
  public void close() {
    Started parts = started;
    if (parts != null) {
      parts.context().close();
      parts.context().calls.close();
    }
  }
}
