// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.Scheduler.Scheduled;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The claims that wait, and the one look at the file that is taken for all of them, from time to time.
 *
 * <p>Who waits is learned from attempts that were answered busy. While anybody does, the file's change counter is read
 * at intervals that grow from one millisecond to the longest poll; only if it has moved, or the end of a lease is due,
 * the rows are read; and only a claim that may find its lock free is told to try again. So nobody's attempt is refused
 * time after time, and a process without waiting claims does not look at all.
 *
 * <pre>
 *   idle --add--> scheduled --timer--> looking --nobody waits--> idle
 *                     ^                   |
 *                     +----- arm ---------+
 * </pre>
 *
 * <p>{@code state} guards scheduled, looking, lookAgain; the rest of the mutable fields belong to the lane's thread.
 */
final class SqliteWaiting {
  static final Duration WAITER_LEASE = Duration.ofSeconds(5);
  static final long WAITER_LEASE_US = WAITER_LEASE.toNanos() / 1000;

  private static final System.Logger LOG = System.getLogger(SqliteWaiting.class.getName());
  private static final long SHORTEST_NANOS = 1_000_000;

  /** A claim that was told and has not tried since is told again. */
  private static final long TELL_AGAIN_US = 250_000;

  private static final long NEVER = Long.MIN_VALUE;

  private final SqliteContext context;
  private final SqliteLane lane;
  private final SplittableRandom random;
  private final long longestNanos;
  private final Map<ClaimId, Waiter> waiters = new ConcurrentHashMap<>();

  private final ReentrantLock state = new ReentrantLock();
  private @Nullable Scheduled scheduled;
  private long scheduledNanos;
  private boolean looking;
  private boolean lookAgain;

  private volatile boolean somethingNew;
  private long intervalNanos = SHORTEST_NANOS;
  private @Nullable SqliteSession latestSession;
  private long latestVersion;
  private long nextReadUs;

  SqliteWaiting(SqliteContext context, SqliteLane lane) {
    this.context = context;
    this.lane = lane;
    random = context.split();
    longestNanos = context.options().pollAtMost().toNanos();
  }

  /** What was last seen of a waiting claim's lock; written by the lane's thread. */
  private static final class Waiter {
    final Claim claim;
    final String id;
    long seenRevision = -1;
    volatile long toldUs = NEVER;

    Waiter(Claim claim) {
      this.claim = claim;
      id = claim.id().toString();
    }
  }

  /** What one look gave. */
  private record Found(List<ClaimId> toTell, long delayNanos) {}

  /**
   * How long word that somebody waits stays fresh: it is renewed at half of that. Long beside the looks, so that a waiter
   * which is starved for a moment does not lose its turn; short beside a lease, since word of one that left delays others.
   */
  long wordLastsUs() {
    return Math.max(8 * longestNanos / 1000, 1_000_000);
  }

  boolean contains(ClaimId id) {
    return waiters.containsKey(id);
  }

  /** Says whether the claim waits, and no other of this client for the same lock. */
  boolean isLastOf(Claim claim) {
    if (!waiters.containsKey(claim.id())) {
      return false;
    }
    for (Waiter waiter : waiters.values()) {
      if (waiter.claim.name().equals(claim.name()) && !waiter.claim.id().equals(claim.id())) {
        return false;
      }
    }
    return true;
  }

  /** The claim was answered busy and wants to hear. */
  void add(Claim claim) {
    Waiter known = waiters.get(claim.id());
    if (known != null && known.toldUs == NEVER) {
      // The engine asks again from time to time without having been told. The looks go on as they are: were each such
      // question news, a hundred waiters would keep each other's looks at their shortest interval.
      return;
    }
    waiters.put(claim.id(), new Waiter(claim));
    somethingNew = true;
    arm(SHORTEST_NANOS);
  }

  void remove(ClaimId id) {
    if (!waiters.isEmpty()) {
      waiters.remove(id);
    }
  }

  /** A lock was let go here: if it is waited for here too, nobody needs to wait for the next look. */
  void lookNow(LockKey name) {
    for (Waiter waiter : waiters.values()) {
      if (waiter.claim.name().equals(name)) {
        somethingNew = true;
        arm(0);
        return;
      }
    }
  }

  private void arm(long delayNanos) {
    state.lock();
    try {
      if (looking) {
        lookAgain = true;
        return;
      }
      long due = context.runtime().ticker().nanos() + delayNanos;
      if (scheduled != null) {
        if (scheduledNanos - due <= 0) {
          return;
        }
        scheduled.cancel();
      }
      scheduledNanos = due;
      scheduled = context.runtime().scheduler().schedule(this::due, delayNanos);
    } finally {
      state.unlock();
    }
  }

  /** On the timer. */
  private void due() {
    state.lock();
    try {
      scheduled = null;
      if (looking || waiters.isEmpty() || lane.isClosed()) {
        return;
      }
      looking = true;
    } finally {
      state.unlock();
    }
    try {
      lane.execute(this::look);
    } catch (RejectedExecutionException e) {
      // Closed just now: nobody is waiting any more.
      waiters.clear();
    }
  }

  /** On the lane's thread. */
  private void look() {
    Found found;
    try {
      found = lane.call(context.now(), this::read);
    } catch (RuntimeException e) {
      if (lane.isClosed()) {
        waiters.clear();
        return;
      }
      // The attempts that follow will fail too, and tell the waiters why.
      LOG.log(Level.DEBUG, "store=" + context.store() + " looking for free locks failed", e);
      found =
          new Found(List.copyOf(waiters.keySet()), Math.max(longestNanos, TELL_AGAIN_US * 1000));
    }
    for (ClaimId id : found.toTell()) {
      context.events().lookAgain(id);
    }
    state.lock();
    try {
      looking = false;
      boolean soon = lookAgain;
      lookAgain = false;
      if (!waiters.isEmpty() && !lane.isClosed()) {
        arm(soon ? SHORTEST_NANOS : found.delayNanos());
      }
    } finally {
      state.unlock();
    }
  }

  private Found read(SqliteSession session) throws SQLException {
    boolean fresh = somethingNew;
    somethingNew = false;
    // Before the rows: what changes after this is seen by the next look.
    long version = session.dataVersion();
    Moment now = context.now();
    long nowUs = SqliteContext.micros(now);
    List<ClaimId> toTell = List.of();
    // What one connection counts says nothing about the count of the next.
    boolean sameCount = session == latestSession && version == latestVersion;
    if (fresh || !sameCount || nowUs >= nextReadUs) {
      latestSession = session;
      latestVersion = version;
      toTell = readRows(session, nowUs, fresh);
    } else {
      intervalNanos = Math.min(intervalNanos + intervalNanos / 2, longestNanos);
    }
    long toNextRead = Math.max(0, Math.min(nextReadUs - nowUs, longestNanos / 1000)) * 1000;
    long jittered = intervalNanos - random.nextLong(intervalNanos / 4 + 1);
    return new Found(toTell, Math.max(Math.min(jittered, toNextRead), SHORTEST_NANOS / 4));
  }

  private List<ClaimId> readRows(SqliteSession session, long nowUs, boolean fresh)
      throws SQLException {
    Map<LockKey, List<Waiter>> byName = new HashMap<>();
    for (Waiter waiter : waiters.values()) {
      byName.computeIfAbsent(waiter.claim.name(), name -> new ArrayList<>(2)).add(waiter);
    }
    List<ClaimId> toTell = new ArrayList<>();
    List<String> wordless = new ArrayList<>();
    boolean moved = fresh;
    nextReadUs = Long.MAX_VALUE;
    for (Map.Entry<LockKey, List<Waiter>> entry : byName.entrySet()) {
      SqliteRow row = session.locks.read(entry.getKey().name());
      if (row != null && row.isTaken(nowUs)) {
        moved |= stillTaken(row, entry.getValue(), nowUs, wordless);
      } else {
        tell(session, entry.getKey(), entry.getValue(), nowUs, toTell);
        moved |= !toTell.isEmpty();
      }
    }
    if (!wordless.isEmpty()) {
      leaveWord(session, wordless, nowUs);
    }
    intervalNanos =
        moved ? SHORTEST_NANOS : Math.min(intervalNanos + intervalNanos / 2, longestNanos);
    return toTell;
  }

  /** Returns whether it went from one holder to another since the last look: then things are moving. */
  private boolean stillTaken(SqliteRow row, List<Waiter> all, long nowUs, List<String> wordless) {
    boolean moved = false;
    for (Waiter waiter : all) {
      moved |= waiter.seenRevision != row.rev();
      waiter.seenRevision = row.rev();
      waiter.toldUs = NEVER;
    }
    nextReadUs = Math.min(nextReadUs, row.untilUs());
    if (row.claim() != null && !row.isOf(context.client())) {
      long lasts = wordLastsUs();
      if (row.lacksWord(context.client(), nowUs + lasts / 2)) {
        wordless.add(row.name());
      }
      nextReadUs = Math.min(nextReadUs, nowUs + lasts / 4);
    }
    return moved;
  }

  /** For all of them in one transaction: a process that waits for many locks writes no more often than one that waits for one. */
  private void leaveWord(SqliteSession session, List<String> names, long nowUs)
      throws SQLException {
    try {
      session.connection.begin();
    } catch (SQLException e) {
      if (!SqliteErrors.isBusy(e)) {
        throw e;
      }
      // Whoever writes just now may be the one to release. The next look tries again.
      LOG.log(Level.TRACE, "no word left, the file was busy");
      return;
    }
    try {
      // looked at again now that nobody else writes: who left before has taken its word back
      Set<String> waitedFor = namesWaitedFor();
      for (String name : names) {
        if (waitedFor.contains(name)) {
          session.locks.want(name, context.client(), nowUs, nowUs + wordLastsUs());
        }
      }
      session.connection.commit();
    } catch (SQLException | RuntimeException e) {
      session.connection.rollbackAfter(e);
      throw e;
    }
  }

  private Set<String> namesWaitedFor() {
    Set<String> names = new HashSet<>();
    waiters.values().forEach(waiter -> names.add(waiter.claim.name().name()));
    return names;
  }

  /** Tells who may find a free lock free: every plain claim, and of the fair ones the first in line. */
  private void tell(
      SqliteSession session, LockKey name, List<Waiter> all, long nowUs, List<ClaimId> toTell)
      throws SQLException {
    SqliteQueue.Head head = null;
    boolean headRead = false;
    for (Waiter waiter : all) {
      if (waiter.claim.fair()) {
        if (!headRead) {
          head = session.queue.head(name.name(), nowUs);
          headRead = true;
        }
        if (head != null && !head.claim().equals(waiter.id)) {
          nextReadUs = Math.min(nextReadUs, head.untilUs());
          continue;
        }
      }
      if (waiter.toldUs == NEVER || Math.abs(nowUs - waiter.toldUs) >= TELL_AGAIN_US) {
        waiter.toldUs = nowUs;
        toTell.add(waiter.claim.id());
      }
      nextReadUs = Math.min(nextReadUs, waiter.toldUs + TELL_AGAIN_US);
    }
  }

  /** Stops looking. */
  void close() {
    waiters.clear();
    state.lock();
    try {
      if (scheduled != null) {
        scheduled.cancel();
        scheduled = null;
      }
    } finally {
      state.unlock();
    }
  }
}
