// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.DurationText;
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
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Locks on a majority of independent Redis servers. {@link #using(RedisClient...)} makes one on the application's own Lettuce
 * clients, one for each server; an address ({@code redlock://a,b,c}) makes one with clients of its own.
 *
 * <pre>{@code
 * RedlockStore store = RedlockStore.using(one, two, three); // a client for each of the servers
 * }</pre>
 *
 * <pre>
 *   attempt, end -> RedlockClaims -> ClaimVotes: a claim's votes -> RedlockTally: what they mean
 *   keep -> RedlockLocks: one round
 *   inspect, list, evict -> RedlockAdmin
 *   each of them -> RedlockServer: one node
 *   the nodes' messages -> RedlockWaits -> look again
 * </pre>
 *
 * <p>A lock is held by the claim whose same number a majority of the nodes accepted; that number is the revision. A node
 * accepts only numbers above all that it has seen and near its own clock, and does not vote while it may have forgotten
 * something. What a node does is in the scripts {@code redlock-*.lua}; what the answers mean is decided here.
 *
 * <h2>Guarantees</h2>
 *
 * {@link #guarantees()} says what is given and what is not.
 *
 * <h2>Time</h2>
 *
 * Each node judges by its own clock, read once in each script. The store's time is the median of them.
 *
 * <h2>Failure</h2>
 *
 * As long as a majority of the nodes answers, all goes on. A slow node is not waited for where the others are enough. If
 * no majority is certain, all nodes are told to let go and the outcome is unknown.
 */
public final class RedlockStore implements LockStore {
  private static final Duration SHORTEST_LEASE = Duration.ofMillis(200);
  private static final Duration GRANULARITY = Duration.ofMillis(1);

  /** A process that had its turn stays out for so long: enough for whoever was told to ask all nodes. */
  private static final Duration STAY_OUT = Duration.ofMillis(100);

  private static final Duration WAKES_WITHIN = RedlockWaits.LEASE.dividedBy(3).plusMillis(200);
  private static final StoreTraits TRAITS = new StoreTraits(false, RedlockWaits.LEASE, STAY_OUT);

  private final String store;
  private final RedisOptions options;
  private final RedlockRule rule;
  private final List<Member> members;
  private final Runnable unused;
  private volatile @Nullable Started started;

  /**
   * One of the nodes.
   *
   * @param name for people
   * @param connector makes what opens its connections
   */
  private record Member(String name, Supplier<RedisConnector> connector) {}

  /** What exists from {@link #start} on. */
  private record Started(
      RedlockContext context,
      List<RedlockServer> servers,
      RedlockQuorum quorum,
      RedlockLocks locks,
      RedlockAdmin admin,
      RedlockDoctor doctor) {}

  private RedlockStore(
      String store, RedisOptions options, RedlockRule rule, List<Member> members, Runnable unused) {
    this.store = store;
    this.options = options;
    this.rule = rule;
    this.members = members;
    this.unused = unused;
  }

  /**
   * Makes a store on the application's own clients, with the default settings: leases up to 60 s. Two connections are
   * opened with each of them; the clients themselves are left open by {@link #close()}.
   *
   * @param clients one for each node, made with its address: an odd number of them, 3 or more, for independent servers
   * @return a store, not started
   * @throws IllegalArgumentException if there are fewer than 3, or an even number
   */
  public static RedlockStore using(RedisClient... clients) {
    return using(RedlockRule.DEFAULT_MAX_LEASE, clients);
  }

  /**
   * Makes a store on the application's own clients, with another longest lease.
   *
   * @param maxLease the longest lease and {@code holdAtLeast}, 1 s to 366 days; the same for all clients of the nodes,
   *     which remember it
   * @param clients one for each node, as in {@link #using(RedisClient...)}
   * @return a store, not started
   * @throws IllegalArgumentException if a number is out of range
   */
  public static RedlockStore using(Duration maxLease, RedisClient... clients) {
    return using(maxLease, RedisSettings.defaults(), clients);
  }

  /**
   * Makes a store on the application's own clients, with another longest lease and settings.
   *
   * @param maxLease the longest lease, as in {@link #using(Duration, RedisClient...)}
   * @param settings how the locks are stored; without replicas, since the nodes have none
   * @param clients one for each node, as in {@link #using(RedisClient...)}
   * @return a store, not started
   * @throws IllegalArgumentException if a number is out of range, or the settings ask for replicas
   */
  public static RedlockStore using(
      Duration maxLease, RedisSettings settings, RedisClient... clients) {
    Objects.requireNonNull(maxLease, "maxLease");
    Objects.requireNonNull(settings, "settings");
    Objects.requireNonNull(clients, "clients");
    RedlockAddress.require(maxLease, clients.length);
    if (settings.replicas() > 0) {
      throw new IllegalArgumentException(
          "Redlock's nodes have no replicas to wait for; replicas must be 0, not "
              + settings.replicas());
    }
    List<Member> members = new ArrayList<>();
    for (RedisClient client : clients) {
      Objects.requireNonNull(client, "client");
      members.add(new Member("" + (members.size() + 1), () -> new GivenRedisClient(client)));
    }
    return new RedlockStore(
        "redlock (the application's clients)",
        RedisOptions.of(settings),
        new RedlockRule(clients.length, maxLease, RedlockRule.REACH),
        List.copyOf(members),
        () -> {});
  }

  static RedlockStore at(StoreAddress address) {
    RedlockAddress nodes = new RedlockAddress(address);
    return at(address, nodes, nodes.rule());
  }

  /** For tests: with a rule of their own. */
  static RedlockStore at(StoreAddress address, RedlockAddress nodes, RedlockRule rule) {
    RedlockClient client = new RedlockClient(nodes.connectTimeout(), nodes.tls());
    List<Member> members = new ArrayList<>();
    for (RedisURI node : nodes.nodes()) {
      members.add(new Member(RedlockAddress.describe(node), () -> client.to(node)));
    }
    return new RedlockStore(
        address.toString(), RedisOptions.of(address), rule, List.copyOf(members), client::close);
  }

  @Override
  public Guarantees guarantees() {
    return new Guarantees(
        "Redlock (" + rule.nodes() + " nodes)",
        Set.of(
            Guarantee.EXCLUDES_PROCESSES,
            Guarantee.EXCLUDES_MACHINES,
            Guarantee.TOKENS_SURVIVE_RESTART),
        SHORTEST_LEASE,
        rule.maxLease(),
        GRANULARITY,
        WAKES_WITHIN,
        List.of(
            "The clocks of the nodes are trusted: when those of a majority step forward, or run faster than ours by more"
                + " than 1 %, leases end early and two can hold a lock.",
            "A node that restarted, lost its marker or evicted a key does not vote for "
                + DurationText.exact(rule.abstains())
                + "; new nodes neither. While a majority does not vote, no lock can be"
                + " acquired or renewed.",
            "A hold that only a majority accepted is lost when one of those nodes restarts.",
            "Deleting the record of a lock by hand, or restoring a snapshot without a restart, is not noticed.",
            "Tokens go back only if a majority forgot a lock and clocks then read less, by more than "
                + DurationText.exact(rule.reach()) + ", than they did.",
            "A node with replicas that fails over forgets unnoticed what had not reached the replica, unless its marker"
                + " shows it: nodes must be without replicas.",
            "A lease cannot stop a paused process from writing late: only the token, checked at the resource, can.",
            "A forced release ends a hold without its holder's consent.",
            "There is no order among those that wait."));
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
    RedisKeys keys = new RedisKeys(options.prefix());
    RedlockQuorum quorum =
        new RedlockQuorum(store, runtime, events, rule.nodes(), this::reconnected);
    RedlockWaits waits = new RedlockWaits(runtime, events, rule.majority());
    List<RedlockServer> servers = new ArrayList<>();
    List<RedisAdmin> walkers = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      int node = i;
      String name = members.get(i).name();
      RedisClock clock = new RedisClock(runtime.ticker());
      RedisLink link = new RedisLink(
          "node " + name,
          runtime,
          quorum.of(i),
          members.get(i).connector().get(),
          RedlockServer.firstQuestion(rule, keys, found -> quorum.leads(node, found.run())),
          keys.channelOf(runtime.client()),
          clock,
          RedisReplicas.Rule.NONE,
          message -> waits.received(node, message));
      servers.add(new RedlockServer(name, rule, link, clock, keys, options));
      walkers.add(new RedisAdmin(link, keys, options));
    }
    RedlockContext context = new RedlockContext(store, runtime, rule, List.copyOf(servers), waits);
    started = new Started(
        context,
        servers,
        quorum,
        new RedlockLocks(context),
        new RedlockAdmin(context, servers, walkers),
        new RedlockDoctor(context, servers, options));
  }

  private void reconnected(int node) {
    Started now = started;
    if (now != null) {
      now.locks().reconnected(node);
    }
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
    return started().quorum().connect(started().servers());
  }

  @Override
  public Instant time() {
    return RedisClock.instant(RedlockNumbers.median(started().context().clocks()));
  }

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    return started().locks().attempt(claim, mode, Duration.between(time(), giveUpAt));
  }

  @Override
  public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
    return claims.isEmpty()
        ? CompletableFuture.completedFuture(Map.of())
        : started().locks().keep(List.copyOf(claims));
  }

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    return started().locks().end(claim, keepFor);
  }

  /** Returns nothing: a claim that was forgotten ends with its own lease. */
  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    return CompletableFuture.completedFuture(Map.of());
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

  /** Closes the connections; what is under way on them fails. A second call does nothing. */
  @Override
  public void close() {
    Started parts = started;
    if (parts == null) {
      unused.run();
    } else {
      parts.quorum().close();
      parts.servers().forEach(server -> server.link().close());
    }
  }
}
