// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Scheduler.Scheduled;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The claims that wait, and the one look at the store that is taken for all of them, from time to time.
 *
 * <p>Who waits is learned from attempts that were answered busy. While anybody does, the store is looked at, at intervals
 * that grow from one millisecond to the longest poll; only a claim that may find its lock free is told to try again. So
 * nobody's attempt is refused time after time, and a process without waiting claims does not look at all.
 *
 * <p>Where a store sends word of releases ({@link Wakeups}), looks are rare: one when a claim begins to wait or word was left
 * that it does, and one from time to time, since word can get lost.
 *
 * <pre>
 *   idle --add--> scheduled --timer--> looking --nobody waits--> idle
 *                     ^                   |
 *                     +----- arm ---------+
 * </pre>
 *
 * <p>{@code state} guards scheduled, looking, lookAgain; the rest of the mutable fields belong to the looks, of which there
 * is one at a time.
 */
final class Waiting {
  static final Duration WAITER_LEASE = Duration.ofSeconds(5);
  static final long WAITER_LEASE_US = WAITER_LEASE.toNanos() / 1000;

  private static final System.Logger LOG = System.getLogger(Waiting.class.getName());
  private static final long SHORTEST_NANOS = 1_000_000;

  /** A claim that was told and has not tried since is told again. */
  private static final long TELL_AGAIN_US = 250_000;

  private static final long NEVER = Long.MIN_VALUE;

  private final String store;
  private final StoreRuntime runtime;
  private final StoreEvents events;
  private final Eyes eyes;
  private final SplittableRandom random;
  private final long longestNanos;
  private final Map<ClaimId, Waiter> waiters = new ConcurrentHashMap<>();
  private volatile Wakeups wakeups = Wakeups.NONE;

  private final ReentrantLock state = new ReentrantLock();
  private @Nullable Scheduled scheduled;
  private long scheduledNanos;
  private boolean looking;
  private boolean lookAgain;

  private volatile boolean somethingNew;
  private volatile long lookedUs;
  private long intervalNanos = SHORTEST_NANOS;
  private long nextReadUs;

  /** How a store is looked at. */
  interface Eyes {
    /**
     * Runs something on a thread of the store's own.
     *
     * @throws RejectedExecutionException if the store is closed
     */
    void execute(Runnable task);

    boolean isClosed();

    /**
     * Shows what there is.
     *
     * @param names the locks that are waited for
     * @param judge what judges it
     * @return what that returned
     * @throws RuntimeException if the store did not answer
     */
    Found look(Collection<LockKey> names, Judge judge);
  }

  /** Judges what was seen. */
  interface Judge {
    Found of(View view) throws SQLException;
  }

  /** What is seen in one look. */
  interface View {
    /** The store's time of the look. */
    long nowUs();

    /** Whether nothing at all has changed since the look before. */
    boolean isUnchanged();

    @Nullable
    LockRow row(LockKey name) throws SQLException;

    /** When to read a row again although nothing has changed: when its lease ends, or sooner, to see whether its holder lives. */
    default long dueUs(LockRow row) throws SQLException {
      return row.untilUs();
    }

    /** The first living waiter in the queue of fair ones. */
    JdbcDialect.@Nullable Head head(LockKey name) throws SQLException;

    /**
     * Leaves word that this client waits.
     *
     * @param names the locks
     * @param client which client
     * @param lastsUs how long the word stays fresh
     * @param waitedFor what is waited for, to be asked right before: who left has taken its word back
     */
    void leaveWord(
        List<LockKey> names, String client, long lastsUs, Supplier<Set<LockKey>> waitedFor)
        throws SQLException;
  }

  /** What one look gave. */
  record Found(List<ClaimId> toTell, long delayNanos) {}

  /**
   * Makes one without claims.
   *
   * @param store the store's address for people
   * @param longest the longest that it does not look
   * @param random jitter, for the looks alone
   */
  Waiting(
      String store,
      StoreRuntime runtime,
      StoreEvents events,
      Eyes eyes,
      Duration longest,
      SplittableRandom random) {
    this.store = store;
    this.runtime = runtime;
    this.events = events;
    this.eyes = eyes;
    this.random = random;
    longestNanos = longest.toNanos();
  }

  /** What was last seen of a waiting claim's lock; written by the looks. */
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

  /**
   * How long word that somebody waits stays fresh: it is renewed at half of that. Long beside the looks, so that a waiter
   * which is starved for a moment does not lose its turn; short beside a lease, since word of one that left delays others.
   * Where messages come it is most of what a waiter costs, and lasts twice as long.
   */
  long wordLastsUs() {
    long lasts = wordLastsUs(longestNanos);
    return wakeups.areComing() ? 2 * lasts : lasts;
  }

  private static long wordLastsUs(long longestNanos) {
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

  /** Word of releases will come from here. */
  void hearFrom(Wakeups source) {
    wakeups = source;
  }

  /** The longest without a look, word or no word: the word that we wait, which releases ask for, is not stale by then. */
  private long longestNanos() {
    return wakeups.areComing() ? longestHearingNanos(longestNanos) : longestNanos;
  }

  /** The longest without a look while word comes. */
  static long longestHearingNanos(long longestNanos) {
    return wordLastsUs(longestNanos) * 1000 / 4;
  }

  boolean isEmpty() {
    return waiters.isEmpty();
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
    wakeups.needed();
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

  /**
   * Word came that a lock may be free. Plain claims try at once: a look before would find what the message says. Of the fair
   * ones only the first may, which a look finds out.
   */
  void heard(String name) {
    boolean fair = false;
    for (Waiter waiter : waiters.values()) {
      if (waiter.claim.name().name().equals(name)) {
        if (waiter.claim.fair()) {
          fair = true;
        } else {
          waiter.toldUs = lookedUs;
          events.lookAgain(waiter.claim.id());
        }
      }
    }
    if (fair) {
      somethingNew = true;
      arm(0);
    }
  }

  /** Word may have been missed, or will not come any more. */
  void lookAll() {
    if (!waiters.isEmpty()) {
      somethingNew = true;
      arm(0);
    }
  }

  private void arm(long delayNanos) {
    state.lock();
    try {
      if (looking) {
        lookAgain = true;
        return;
      }
      long due = runtime.ticker().nanos() + delayNanos;
      if (scheduled != null) {
        if (scheduledNanos - due <= 0) {
          return;
        }
        scheduled.cancel();
      }
      scheduledNanos = due;
      scheduled = runtime.scheduler().schedule(this::due, delayNanos);
    } finally {
      state.unlock();
    }
  }

  /** On the timer. */
  private void due() {
    state.lock();
    try {
      scheduled = null;
      if (looking || waiters.isEmpty() || eyes.isClosed()) {
        return;
      }
      looking = true;
    } finally {
      state.unlock();
    }
    try {
      eyes.execute(this::look);
    } catch (RejectedExecutionException e) {
      // Closed just now: nobody is waiting any more.
      waiters.clear();
    } catch (RuntimeException | Error e) {
      looked(Math.max(longestNanos, TELL_AGAIN_US * 1000));
      LOG.log(
          Level.ERROR, "store=" + store + " no look for free locks could begin, later again", e);
    }
  }

  private void look() {
    long delayNanos = Math.max(longestNanos, TELL_AGAIN_US * 1000);
    try {
      Found found = seen();
      delayNanos = found.delayNanos();
      for (ClaimId id : found.toTell()) {
        events.lookAgain(id);
      }
    } finally {
      looked(delayNanos);
    }
  }

  private Found seen() {
    try {
      return eyes.look(namesWaitedFor(), this::judge);
    } catch (RuntimeException e) {
      if (eyes.isClosed()) {
        waiters.clear();
      } else {
        LOG.log(Level.DEBUG, "store=" + store + " looking for free locks failed", e);
      }
      // The attempts that follow will fail too, and tell the waiters why.
      return new Found(List.copyOf(waiters.keySet()), Math.max(longestNanos, TELL_AGAIN_US * 1000));
    }
  }

  private void looked(long delayNanos) {
    state.lock();
    try {
      looking = false;
      boolean soon = lookAgain;
      lookAgain = false;
      if (!waiters.isEmpty() && !eyes.isClosed()) {
        arm(soon ? SHORTEST_NANOS : delayNanos);
      }
    } finally {
      state.unlock();
    }
  }

  private Found judge(View view) throws SQLException {
    boolean fresh = somethingNew;
    somethingNew = false;
    long nowUs = view.nowUs();
    lookedUs = nowUs;
    List<ClaimId> toTell = List.of();
    if (fresh || !view.isUnchanged() || nowUs >= nextReadUs) {
      toTell = judgeRows(view, nowUs, fresh);
    } else {
      intervalNanos = Math.min(intervalNanos + intervalNanos / 2, longestNanos());
    }
    long toNextRead = Math.max(0, Math.min(nextReadUs - nowUs, longestNanos() / 1000)) * 1000;
    long jittered = intervalNanos - random.nextLong(intervalNanos / 4 + 1);
    return new Found(toTell, Math.max(Math.min(jittered, toNextRead), SHORTEST_NANOS / 4));
  }

  private List<ClaimId> judgeRows(View view, long nowUs, boolean fresh) throws SQLException {
    Map<LockKey, List<Waiter>> byName = new HashMap<>();
    for (Waiter waiter : waiters.values()) {
      byName.computeIfAbsent(waiter.claim.name(), name -> new ArrayList<>(2)).add(waiter);
    }
    List<ClaimId> toTell = new ArrayList<>();
    List<LockKey> wordless = new ArrayList<>();
    boolean moved = fresh;
    nextReadUs = Long.MAX_VALUE;
    for (Map.Entry<LockKey, List<Waiter>> entry : byName.entrySet()) {
      LockRow row = view.row(entry.getKey());
      long dueUs = row == null ? nowUs : view.dueUs(row);
      if (row != null && dueUs > nowUs) {
        nextReadUs = Math.min(nextReadUs, dueUs);
        moved |= stillTaken(row, entry, nowUs, wordless);
      } else {
        tell(view, entry.getKey(), entry.getValue(), nowUs, toTell);
        moved |= !toTell.isEmpty();
      }
    }
    if (!wordless.isEmpty()) {
      view.leaveWord(wordless, runtime.client(), wordLastsUs(), this::namesWaitedFor);
    }
    if (wakeups.areComing() && toTell.isEmpty() && wordless.isEmpty() && !isAnyFair()) {
      // whoever lets one of these locks go knows that somebody waits, and will say so
      intervalNanos = longestNanos();
    } else {
      intervalNanos =
          moved ? SHORTEST_NANOS : Math.min(intervalNanos + intervalNanos / 2, longestNanos());
    }
    return toTell;
  }

  /** The first in a queue can take a lock and wipe out the word that the others wait: for them it has to be looked after. */
  private boolean isAnyFair() {
    return waiters.values().stream().anyMatch(waiter -> waiter.claim.fair());
  }

  /** Returns whether it went from one holder to another since the last look: then things are moving. */
  private boolean stillTaken(
      LockRow row, Map.Entry<LockKey, List<Waiter>> entry, long nowUs, List<LockKey> wordless) {
    boolean moved = false;
    for (Waiter waiter : entry.getValue()) {
      moved |= waiter.seenRevision != row.rev();
      waiter.seenRevision = row.rev();
      waiter.toldUs = NEVER;
    }
    if (row.claim() != null && !row.isOf(runtime.client())) {
      long lasts = wordLastsUs();
      if (row.lacksWord(runtime.client(), nowUs + lasts / 2)) {
        wordless.add(entry.getKey());
      }
      nextReadUs = Math.min(nextReadUs, nowUs + lasts / 4);
    }
    return moved;
  }

  private Set<LockKey> namesWaitedFor() {
    Set<LockKey> names = new HashSet<>();
    waiters.values().forEach(waiter -> names.add(waiter.claim.name()));
    return names;
  }

  /** Tells who may find a free lock free: every plain claim, and of the fair ones the first in line. */
  private void tell(View view, LockKey name, List<Waiter> all, long nowUs, List<ClaimId> toTell)
      throws SQLException {
    JdbcDialect.Head head = null;
    boolean headRead = false;
    for (Waiter waiter : all) {
      if (waiter.claim.fair()) {
        if (!headRead) {
          head = view.head(name);
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

  /** Stops looking, and listening. */
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
