// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
import io.holdfast.StoreUnavailableException;
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
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Locks as rows of a table in PostgreSQL, MySQL or MariaDB. {@link #using(DataSource)} makes one on the application's own
 * data source; an address ({@code jdbc:postgresql://localhost/app}) makes one with a pool of its own.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.builder()
 *     .store(JdbcStore.using(dataSource)) // stays open when the client is closed
 *     .build();
 * }</pre>
 *
 * <pre>
 *   attempt, end                      -> JdbcLocks   on a few connections, each with its thread, or on that of a caller
 *                                                    which waits anyway
 *   keep                              -> JdbcKeeper  on a connection of its own
 *   inspect, list, evict, looks of waiters, deleting old rows: on the few, too
 * </pre>
 *
 * <p>Each request is one statement, and a transaction by itself. A lock is a row with an end in the database's time;
 * whoever waits looks at the rows of all its locks with one query, at most once in a while, and fair waiters have rows of
 * their own, which are leases too. On PostgreSQL a release tells those who wait ({@link PostgresListener}), and looks are
 * rare.
 *
 * <h2>Guarantees</h2>
 *
 * {@link #guarantees()} says what is given and what is not.
 *
 * <h2>Time</h2>
 *
 * The store's time is the database server's clock, in microseconds.
 *
 * <h2>Failure</h2>
 *
 * A statement that the database rolled back in favour of another is run again within the time of its request. When a
 * connection breaks, what was under way is unknown, and the next request opens another one.
 */
public final class JdbcStore implements LockStore {
  private final JdbcSource source;
  private final JdbcDialect dialect;
  private final JdbcOptions options;
  private final String store;
  private volatile @Nullable Started started;

  /** What exists from {@link #start} on. */
  private record Started(
      JdbcContext context,
      JdbcLane lane,
      JdbcKeeper keeper,
      JdbcLocks locks,
      JdbcAdmin admin,
      Wakeups wakeups) {}

  JdbcStore(JdbcSource source, JdbcDialect dialect, JdbcOptions options, String store) {
    this.source = source;
    this.dialect = dialect;
    this.options = options;
    this.store = store;
  }

  /**
   * Makes a store on the application's own data source, with the default settings; otherwise as {@link #using(DataSource,
   * JdbcSettings)}.
   *
   * @param dataSource where connections come from
   * @return a store, not started
   * @throws ConfigurationException if it leads to another database than PostgreSQL, MySQL or MariaDB
   * @throws StoreUnavailableException if it gives no connection
   */
  public static JdbcStore using(DataSource dataSource) {
    return using(dataSource, JdbcSettings.defaults());
  }

  /**
   * Makes a store on the application's own data source. It asks once for a connection, to learn what database it leads to.
   * From {@link #connect()} on it keeps one connection for renewals, and borrows up to eight more
   * while there is something to do ({@code connections}), so that a pool must have at least two. On PostgreSQL waiters may
   * listen on another one, see {@link Listening}. Connections are given back as they came; the data source itself is left
   * open by {@link #close()}.
   *
   * <p>From {@link #connect()} on, each connection is asked for on a thread made for it, and waited for twice as long as a
   * request, five seconds at least; then the requests that need it fail as not applied. It is used, or given back, when
   * it comes all the same. While many do not come, one more is asked for every thirty seconds. What ends those threads is
   * a limit of the data source's own, for connecting and for the answers to a login; {@link #close()} interrupts them, and
   * waits two seconds for their end.
   *
   * @param dataSource where connections come from
   * @param settings how it is used
   * @return a store, not started
   * @throws ConfigurationException if it leads to another database than PostgreSQL, MySQL or MariaDB, or to one that cannot
   *     do what the settings ask for
   * @throws StoreUnavailableException if it gives no connection
   */
  public static JdbcStore using(DataSource dataSource, JdbcSettings settings) {
    GivenSource source = new GivenSource(Objects.requireNonNull(dataSource, "dataSource"));
    JdbcOptions options = JdbcOptions.of(Objects.requireNonNull(settings, "settings"));
    return new JdbcStore(source, source.dialect(options), options, GivenSource.STORE);
  }

  @Override
  public Guarantees guarantees() {
    return JdbcGuarantees.of(dialect, options);
  }

  @Override
  public StoreTraits traits() {
    return new StoreTraits(false, Waiting.WAITER_LEASE, options.pollAtMost());
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
    JdbcContext context = new JdbcContext(
        source.forRequestsOf(runtime.requestTimeout(), runtime.ticker()),
        dialect,
        options,
        store,
        runtime,
        events,
        new JdbcClock(runtime.ticker()));
    JdbcLane lane = new JdbcLane("worker", options.connections(), false, context);
    Waiting waiting = new Waiting(
        store, runtime, events, new JdbcEyes(context, lane), options.pollAtMost(), context.split());
    Wakeups wakeups = dialect.wakeups(context, lane, waiting);
    waiting.hearFrom(wakeups);
    JdbcLane renewals = new JdbcLane("keeper", 1, true, context);
    started = new Started(
        context,
        lane,
        new JdbcKeeper(context, renewals, lane, waiting),
        new JdbcLocks(context, lane, waiting),
        new JdbcAdmin(context, lane, waiting),
        wakeups);
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
    Started parts = started();
    // a second connection is needed for everything else: who cannot have it is told now, and not by each request
    return parts
        .keeper()
        .connect()
        .thenCompose(made -> parts
            .lane()
            .submitFirst(parts.context().dialect()::now)
            .exceptionallyCompose(
                e -> CompletableFuture.failedFuture(JdbcErrors.noSecond(store, e))))
        .<@Nullable Void>thenApply(nowUs -> null);
  }

  @Override
  public Instant time() {
    return started().context().clock().now();
  }

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    return started().locks().attempt(claim, mode, giveUpAt);
  }

  @Override
  public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
    return claims.isEmpty()
        ? CompletableFuture.completedFuture(Map.of())
        : started().keeper().keep(List.copyOf(claims));
  }

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    return started().locks().end(claim, keepFor, lastGiveUp);
  }

  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    // what the engine forgets ends with its lease
    return CompletableFuture.completedFuture(Map.of());
  }

  @Override
  public CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    return started().admin().inspect(name);
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
    return started().admin().diagnose();
  }

  @Override
  public List<String> schema() {
    return dialect.ddl(options.tables());
  }

  /** Tables that the connection finds without a schema: parameters of the locks' tables do not apply to them. */
  @Override
  public List<String> dataSchema() {
    // the same words for MySQL and MariaDB
    DatabaseKind kind =
        dialect instanceof PostgresDialect ? DatabaseKind.POSTGRESQL : DatabaseKind.MYSQL;
    return Arrays.stream(DataTable.values()).map(each -> each.ddl(kind)).toList();
  }

  /**
   * Gives the connections back and ends the threads. What waits in line fails as not applied, and what waits for the
   * database as unknown. An application's data source is left open, and who still asks it for a connection is interrupted. A
   * database, or a data source, that hangs delays this by some seconds: two for each of the workers, the renewals, what
   * listens and what is asked for. A second call does nothing.
   */
  @Override
  public void close() {
    Started parts = started;
    JdbcSource last = source;
    if (parts != null) {
      last = parts.context().source();
      parts.locks().close();
      parts.lane().close();
      parts.keeper().close();
      parts.wakeups().close();
    }
    last.close();
  }
}
