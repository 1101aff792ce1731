// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
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
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Locks in a SQLite file: any number of processes of one machine, no server. {@code Holdfast.connect("sqlite:locks.db")} does
 * the same with an address.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.builder().store(SqliteStore.open(file)).build();
 * }</pre>
 *
 * <p>Three connections, each with a thread that exists while there is something to do:
 *
 * <pre>
 *   attempt, end  -> SqliteWriter   the caller's thread, if the connection is free
 *   keep, cleaning -> SqliteKeeper
 *   waiting claims, everything else -> reader lane: Waiting, SqliteAdmin, SqliteDoctor
 * </pre>
 *
 * <h2>Guarantees</h2>
 *
 * {@link #guarantees()} says what is given and what is not.
 *
 * <h2>Time</h2>
 *
 * The store's time is the wall clock of the machine, in steps of a millisecond.
 *
 * <h2>Death of a process</h2>
 *
 * If a process dies, the locks that it held are free within a second on Linux. On other systems, or if its death is not
 * certain, they are free when their leases end.
 *
 * <h2>Failure</h2>
 *
 * A file that is not usable (missing folder, network file system, another program's, damaged, newer, read-only, full
 * disk) fails {@link #connect()} with a message that says what to do, and is left untouched.
 */
public final class SqliteStore implements LockStore {
  private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);
  private static final Duration LONGEST_LEASE = Duration.ofDays(3660);
  private static final Duration GRANULARITY = Duration.ofMillis(1);

  /** For the timer, the change of threads and a busy file, beside the poll itself. */
  private static final Duration WAKE_MARGIN = Duration.ofMillis(50);

  private final SqliteOptions options;
  private final String store;
  private volatile @Nullable Started started;

  /** What exists from {@link #start} on. */
  private record Started(
      SqliteContext context,
      SqliteWriter writer,
      SqliteKeeper keeper,
      SqliteLane reader,
      Waiting waiting,
      SqliteAdmin admin) {}

  SqliteStore(SqliteOptions options, String store) {
    this.options = options;
    this.store = store;
  }

  /**
   * Makes a store with the default settings. No I/O yet: the file is opened, and made if it is missing or empty, by
   * {@link #connect()}.
   *
   * @param file the file; its folder must exist, be on a local file system, and be writable, because SQLite keeps two
   *     more files beside it
   * @return a store, not started
   */
  public static SqliteStore open(Path file) {
    Objects.requireNonNull(file, "file");
    return new SqliteStore(SqliteOptions.of(file), "sqlite:" + file);
  }

  @Override
  public Guarantees guarantees() {
    return new Guarantees(
        "SQLite file",
        Set.of(
            Guarantee.EXCLUDES_PROCESSES,
            Guarantee.HOLDS_SURVIVE_RESTART,
            Guarantee.TOKENS_SURVIVE_RESTART,
            Guarantee.FAIR),
        SHORTEST_LEASE,
        LONGEST_LEASE,
        GRANULARITY,
        options.pollAtMost().plus(WAKE_MARGIN),
        List.of(
            "The file serves one machine: on a network file system the locks do not exclude other machines, and such a"
                + " place is refused unless holdfast.network-file=allow.",
            "A wall clock that steps forward ends leases early; one that steps back makes them last longer.",
            "When the file is deleted, replaced or restored from a copy, its holds and tokens are forgotten: others can"
                + " hold the same locks in the new file until the old holders notice, at their next renewal at the"
                + " latest.",
            "A power failure can take back the last moments: a hold of a process that is dead then anyway, or a kept"
                + " lock; tokens still grow unless the clock goes back too.",
            "A process that is stopped within a transaction (some tens of microseconds) keeps the file locked until it goes"
                + " on or dies: no process can acquire or renew meanwhile, so that holds may be lost.",
            "A forced release ends a hold without its holder's consent.",
            "fair keeps the order among those that ask for it; others can take a free lock past them.",
            "A program that opens and closes the file, or the process's own file beside it, by other means within the same"
                + " process breaks the operating system's locks on it: others can then hold the same locks.",
            "If a process dies, the locks that it held are free within a second on Linux. On other systems, or if its death is"
                + " not certain, they are free when their leases end."));
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
    SqliteContext context = new SqliteContext(options, store, runtime, events);
    SqliteDatabase database = new SqliteDatabase(options, store);
    SqliteLane reader = new SqliteLane("reader", context, database);
    Waiting waiting = new Waiting(
        store,
        runtime,
        events,
        new SqliteEyes(context, reader),
        options.pollAtMost(),
        context.split());
    started = new Started(
        context,
        new SqliteWriter(context, database),
        new SqliteKeeper(context, database, waiting),
        reader,
        waiting,
        new SqliteAdmin(context));
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
    return parts
        .writer()
        .submit(new SqliteProbe(parts.context()))
        .<@Nullable Void>thenApply(cleanedUs -> {
          parts.keeper().cleanFromNowOn(cleanedUs);
          return null;
        });
  }

  @Override
  public Instant time() {
    return Instant.ofEpochMilli(started().context().runtime().ticker().wallMillis());
  }

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    Started parts = started();
    return parts
        .writer()
        .submit(new SqliteAttempt(
            parts.context(), parts.keeper(), parts.waiting(), claim, mode, giveUpAt));
  }

  @Override
  public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
    return claims.isEmpty()
        ? CompletableFuture.completedFuture(Map.of())
        : started().keeper().keep(List.copyOf(claims));
  }

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    Started parts = started();
    return parts
        .writer()
        .submit(new SqliteEnd(parts.context(), parts.waiting(), claim, keepFor, lastGiveUp));
  }

  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    Started parts = started();
    return parts.reader().submit(parts.admin()::own);
  }

  @Override
  public CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    Started parts = started();
    return parts.reader().submit(session -> parts.admin().inspect(session, name));
  }

  @Override
  public CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    Started parts = started();
    return parts.reader().submit(session -> parts.admin().list(session, prefix, page));
  }

  @Override
  public CompletionStage<Boolean> evict(LockKey name, long revision) {
    Started parts = started();
    return parts
        .reader()
        .submit(session -> parts.admin().evict(session, name, revision))
        .thenApply(evicted -> {
          // The change counter does not move for the connection that made the change.
          if (evicted) {
            parts.waiting().lookNow(name);
          }
          return evicted;
        });
  }

  @Override
  public CompletionStage<List<Finding>> diagnose() {
    Started parts = started();
    return parts.reader().submit(session -> new SqliteDoctor(parts.context()).look(session));
  }

  @Override
  public List<String> schema() {
    return SqliteSchema.ddl();
  }

  /**
   * Closes the connections and ends the threads, after the statements that are running just now. What waits in line
   * fails as not applied. A second call does nothing.
   */
  @Override
  public void close() {
    Started parts = started;
    if (parts != null) {
      parts.waiting().close();
      parts.writer().close();
      parts.keeper().close();
      parts.reader().close();
      parts.context().liveness().close();
    }
  }
}
