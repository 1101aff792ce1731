// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.history.Kind;
import io.holdfast.testkit.sim.Reply.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The reference lock server, passive like a script or a statement: it does what a request says, when it comes, and
 * notices the end of leases on the way. It has a clock of its own and writes down what it does. Where it differs from the
 * rules that stores keep, a {@link Flaw} says so.
 */
final class SimServer {
  private static final long START_MICROS = 1_767_225_600_000_000L;
  private static final long NEVER = Long.MAX_VALUE / 4;

  private final SimWorld world;
  private final double rate;
  private final Map<String, SimRow> rows = new LinkedHashMap<>();
  private final Map<String, Long> epochs = new HashMap<>();
  private long aheadMicros;

  SimServer(SimWorld world) {
    this.world = world;
    this.rate = world.setup.storeRate;
  }

  // its clock

  long micros() {
    return START_MICROS + aheadMicros + (long) (world.now * rate / 1_000);
  }

  /** When the clock reads a time; two microseconds early, so that rounding never makes a lease look longer. */
  private long worldTimeOf(long micros) {
    return micros >= NEVER
        ? NEVER
        : (long) ((micros - START_MICROS - aheadMicros) * 1_000 / rate) - 2_000;
  }

  void step(long micros) {
    boolean open = rows.values().stream().anyMatch(row -> !row.isFree() || !row.waiters.isEmpty());
    aheadMicros += micros;
    world.record(Kind.STORE_STEPPED, -1, "", "", "", (long) (micros * 1_000 / rate), 0, 0);
    if (open) {
      world.count(Fault.STORE_STEP);
    }
  }

  // the verbs

  Reply attempt(
      SimProcess from,
      Claim claim,
      Mode mode,
      long giveUpMicros,
      long epoch,
      long clientMicros,
      long arrivedMicros) {
    long now = micros();
    if (from.hasEnded(claim.id())) {
      world.count(Fault.LATE_ARRIVAL);
    }
    if (world.setup.finality == Setup.Finality.EPOCH) {
      if (epoch < epochs.getOrDefault(claim.id().client(), 0L)
          && world.flaw != Flaw.EPOCH_IGNORED) {
        return reply(Status.STALE, 0, now);
      }
    } else {
      long judged = world.flaw == Flaw.GIVE_UP_BEFORE_THE_WAIT ? arrivedMicros : now;
      if (judged > giveUpMicros && world.flaw != Flaw.GIVE_UP_IGNORED) {
        return reply(Status.LATE, 0, now);
      }
    }
    SimRow row = row(claim.name());
    expire(row, world.flaw == Flaw.EXPIRY_BY_CLIENT_CLOCK ? clientMicros : now);
    if (row.isHeldBy(claim.id())) {
      extend(row, claim, leaseEnd(claim, now, clientMicros));
      return granted(row, from, now);
    }
    if (row.isFree() && isItsTurn(row, claim, mode, now)) {
      grant(row, claim, from, now, clientMicros, leaseEnd(claim, now, clientMicros), mode, "");
      return granted(row, from, now);
    }
    return busy(row, from, claim, mode, now);
  }

  private Reply busy(SimRow row, SimProcess from, Claim claim, Mode mode, long now) {
    Holder holder = row.holder == null ? null : row.holder.holder();
    boolean waits = mode == Mode.QUEUE || world.flaw == Flaw.TRY_LEAVES_A_WAITER;
    boolean queued = waits && (world.setup.queues || claim.fair());
    if (queued) {
      enqueue(row, claim, from, now);
    }
    if (waits && !world.setup.queues && world.flaw != Flaw.SUBSCRIBED_AFTER_THE_CHECK) {
      row.watchers.put(claim.id(), from);
    }
    settle(row, now);
    return new Reply(
        queued ? Status.QUEUED : Status.BUSY,
        row.revision,
        now,
        row.othersWait(from),
        false,
        holder);
  }

  private boolean isItsTurn(SimRow row, Claim claim, Mode mode, long now) {
    if (mode == Mode.TRY || (!world.setup.queues && !claim.fair())) {
      return true;
    }
    SimRow.Waiter first = firstWaiter(row, now);
    return first == null || first.claim.id().equals(claim.id());
  }

  Map<ClaimId, Reply> keep(SimProcess from, List<Claim> claims) {
    Map<ClaimId, Reply> replies = new HashMap<>();
    for (Claim claim : claims) {
      replies.put(claim.id(), keepOne(from, claim));
    }
    return replies;
  }

  private Reply keepOne(SimProcess from, Claim claim) {
    long now = micros();
    SimRow row = row(claim.name());
    if (world.flaw != Flaw.EXPIRY_BY_CLIENT_CLOCK) {
      expire(row, now);
    }
    long until = leaseEnd(claim, now, now);
    if (row.isHeldBy(claim.id())) {
      extend(row, claim, until);
      return granted(row, from, now);
    }
    SimRow.Waiter waiter = row.waiter(claim.id());
    if (waiter != null && waiter.until <= now) {
      drop(row, waiter);
      row.waiters.remove(waiter);
      waiter = null;
    }
    if (waiter == null) {
      if (world.flaw == Flaw.RENEWAL_WITHOUT_OWNER_CHECK && row.holder != null) {
        extend(row, claim, until);
        return granted(row, from, now);
      }
      if (world.flaw == Flaw.RENEWAL_CREATES && row.isFree()) {
        row.holder = claim;
        row.holderProcess = from;
        extend(row, claim, until);
        return granted(row, from, now);
      }
      settle(row, now);
      return reply(Status.GONE, 0, now);
    }
    refresh(row, waiter, now);
    if (row.isFree() && firstWaiter(row, now) == waiter) {
      grant(row, claim, from, now, now, until, Mode.QUEUE, "");
      return granted(row, from, now);
    }
    settle(row, now);
    return new Reply(Status.QUEUED, row.revision, now, row.othersWait(from), false, null);
  }

  Reply end(
      SimProcess from, Claim claim, long keepForMicros, long lastGiveUpMicros, long newEpoch) {
    long now = micros();
    SimRow row = row(claim.name());
    expire(row, now);
    boolean isFinal = now > lastGiveUpMicros || world.flaw == Flaw.WITHDRAWN_ONCE;
    if (world.setup.finality == Setup.Finality.EPOCH) {
      epochs.merge(claim.id().client(), newEpoch, Math::max);
      isFinal = true;
    }
    boolean othersWait = row.othersWait(from);
    Status found = Status.NOT_THERE;
    row.watchers.remove(claim.id());
    SimRow.Waiter waiter = row.waiter(claim.id());
    if (row.isHeldBy(claim.id())
        || (world.flaw == Flaw.RELEASE_WITHOUT_OWNER_CHECK
            && row.holder != null
            && from.wasHeld(claim.id()))) {
      found = Status.RELEASED;
      release(row, claim, keepForMicros, now);
    } else if (waiter != null) {
      found = Status.WITHDRAWN;
      row.waiters.remove(waiter);
      String name = world.nameOf(claim.id());
      world.record(Kind.UNQUEUED, from.number, row.name, name, name, 0, 0, 0);
    }
    if (isFinal) {
      world.record(
          Kind.ENDED_FINALLY, from.number, row.name, world.nameOf(claim.id()), "", 0, 0, 0);
    }
    settle(row, now);
    return new Reply(found, 0, now, othersWait, isFinal, null);
  }

  Map<ClaimId, LockKey> own(String client) {
    Map<ClaimId, LockKey> own = new LinkedHashMap<>();
    for (SimRow row : rows.values()) {
      Claim holder = row.holder;
      if (holder != null && holder.id().client().equals(client)) {
        own.put(holder.id(), holder.name());
      }
      for (SimRow.Waiter waiter : row.waiters) {
        if (waiter.claim.id().client().equals(client)) {
          own.put(waiter.claim.id(), waiter.claim.name());
        }
      }
    }
    return own;
  }

  /** What an operator sees: the revision of the current grant; zero if there is none. */
  long seen(String lock) {
    SimRow row = rows.get(lock);
    return row == null || row.holder == null ? 0 : row.revision;
  }

  void evict(String lock, long revision) {
    SimRow row = rows.get(lock);
    long now = micros();
    if (row == null) {
      return;
    }
    expire(row, now);
    Claim holder = row.holder;
    if (holder != null && (row.revision == revision || world.flaw == Flaw.EVICT_WITHOUT_REVISION)) {
      world.count(Fault.EVICT);
      world.record(Kind.EVICTED, -1, lock, world.nameOf(holder.id()), "", revision, 0, 0);
      free(row);
      settle(row, now);
    }
  }

  /** The resource that a lock guards: takes a write with a token that is not lower than any before. */
  void write(SimProcess from, String lock, long token) {
    SimRow row = rows.get(lock);
    if (row == null) {
      return;
    }
    boolean taken = token >= row.written || world.flaw == Flaw.UNGUARDED_RESOURCE;
    if (taken) {
      row.written = Math.max(row.written, token);
    }
    world.record(taken ? Kind.ACCEPTED : Kind.REFUSED, from.number, lock, "", "", token, 0, 0);
  }

  /** The second half of a release that looks first and deletes then. */
  Reply delete(Claim claim, long keepForMicros) {
    long now = micros();
    SimRow row = row(claim.name());
    expire(row, now);
    if (row.holder != null) {
      release(row, claim, keepForMicros, now);
      settle(row, now);
    }
    return new Reply(Status.RELEASED, 0, now, false, true, null);
  }

  boolean isHeldBy(Claim claim) {
    SimRow row = row(claim.name());
    expire(row, micros());
    return row.isHeldBy(claim.id());
  }

  /** The second half of a subscription that comes after the check. */
  void subscribe(SimProcess from, Claim claim) {
    row(claim.name()).watchers.put(claim.id(), from);
  }

  /** The second half of a lock without an expiry. */
  void expireLater(Claim claim) {
    SimRow row = row(claim.name());
    if (row.isHeldBy(claim.id())) {
      extend(row, claim, micros() + claim.lease().toNanos() / 1_000);
    }
  }

  // what it does to a row

  private SimRow row(LockKey key) {
    SimRow row = rows.computeIfAbsent(key.name(), SimRow::new);
    if (row.isFree() && row.revision != 0 && micros() > row.revision + retentionMicros()) {
      row.revision = 0;
    }
    return row;
  }

  private long retentionMicros() {
    return world.setup.retention / 1_000;
  }

  private void expire(SimRow row, long now) {
    if (!row.isFree() && row.until <= now) {
      String claim = row.holder == null ? "" : world.nameOf(row.holder.id());
      world.record(Kind.EXPIRED, number(row.holderProcess), row.name, claim, "", 0, 0, 0);
      free(row);
    }
  }

  private void free(SimRow row) {
    row.holder = null;
    row.holderProcess = null;
    row.kept = false;
    row.freed = true;
    if (world.flaw == Flaw.ROW_DELETED_AT_RELEASE) {
      row.revision = 0;
    }
  }

  private long leaseEnd(Claim claim, long now, long clientMicros) {
    long micros = claim.lease().toNanos() / 1_000;
    if (world.flaw == Flaw.NO_EXPIRY || world.flaw == Flaw.EXPIRE_IN_A_SECOND_REQUEST) {
      return NEVER;
    }
    if (world.flaw == Flaw.EXPIRY_BY_CLIENT_CLOCK) {
      return clientMicros + micros;
    }
    if (world.flaw == Flaw.LEASE_ROUNDED_DOWN) {
      return now + micros / 250_000 * 250_000 - 150_000;
    }
    return now + micros;
  }

  private void extend(SimRow row, Claim asking, long until) {
    Claim holder = row.holder;
    if (holder != null) {
      row.until = until;
      world.record(
          Kind.EXTENDED,
          asking.equals(holder) ? number(row.holderProcess) : -1,
          row.name,
          world.nameOf(holder.id()),
          world.nameOf(asking.id()),
          0,
          0,
          inHistory(until));
      world.probeAt(worldTimeOf(until), row.holderProcess, row.name, row.revision);
    }
  }

  private static int number(@Nullable SimProcess process) {
    return process == null ? -1 : process.number;
  }

  /** By the client's clock, the lease ends when its owner thinks that it does. */
  private long inHistory(long until) {
    return world.flaw == Flaw.EXPIRY_BY_CLIENT_CLOCK
        ? world.now + world.setup.lease / 2
        : worldTimeOf(until);
  }

  private void grant(
      SimRow row,
      Claim claim,
      SimProcess process,
      long now,
      long clientMicros,
      long until,
      Mode mode,
      String by) {
    row.holder = claim;
    row.holderProcess = process;
    row.kept = false;
    row.freed = false;
    row.revision = nextRevision(row, now, clientMicros);
    row.since = now;
    row.until = until;
    SimRow.Waiter waiter = row.waiter(claim.id());
    if (waiter != null) {
      row.waiters.remove(waiter);
    }
    world.grants++;
    boolean inTurn = claim.fair() && mode == Mode.QUEUE;
    world.record(
        Kind.GRANTED,
        process.number,
        row.name,
        world.nameOf(claim.id()),
        by,
        row.revision,
        inTurn ? 1 : 0,
        inHistory(until));
    world.probeAt(worldTimeOf(until), process, row.name, row.revision);
  }

  private long nextRevision(SimRow row, long now, long clientMicros) {
    if (world.flaw == Flaw.REVISION_BY_CLIENT_CLOCK) {
      return clientMicros;
    }
    return world.flaw == Flaw.REVISION_IS_TIME ? now : Math.max(row.revision + 1, now);
  }

  private void release(SimRow row, Claim asking, long keepForMicros, long now) {
    Claim holder = java.util.Objects.requireNonNull(row.holder);
    int process = number(row.holderProcess);
    row.holder = null;
    row.holderProcess = null;
    row.until = row.since + keepForMicros;
    row.freed = true;
    row.kept = keepForMicros > 0 && row.until > now && world.flaw != Flaw.NOT_KEPT;
    if (!row.kept && world.flaw == Flaw.ROW_DELETED_AT_RELEASE) {
      row.revision = 0;
    }
    world.record(
        Kind.ENDED,
        process,
        row.name,
        world.nameOf(holder.id()),
        world.nameOf(asking.id()),
        0,
        0,
        row.kept ? worldTimeOf(row.until) : world.now);
  }

  private void enqueue(SimRow row, Claim claim, SimProcess process, long now) {
    SimRow.Waiter waiter =
        world.flaw == Flaw.DUPLICATE_QUEUES_TWICE ? null : row.waiter(claim.id());
    if (waiter == null) {
      waiter = new SimRow.Waiter(claim, process);
      if (world.flaw == Flaw.LAST_COME_FIRST_SERVED) {
        row.waiters.add(0, waiter);
      } else {
        row.waiters.add(waiter);
      }
    }
    refresh(row, waiter, now);
  }

  private void refresh(SimRow row, SimRow.Waiter waiter, long now) {
    waiter.until = now + world.setup.waiterLease / 1_000;
    world.record(
        Kind.QUEUED,
        waiter.process.number,
        row.name,
        world.nameOf(waiter.claim.id()),
        "",
        0,
        waiter.claim.fair() ? 1 : 0,
        worldTimeOf(waiter.until));
  }

  /** The waiter whose turn it is; those whose time is up are dropped. */
  private SimRow.@Nullable Waiter firstWaiter(SimRow row, long now) {
    for (Iterator<SimRow.Waiter> all = row.waiters.iterator(); all.hasNext(); ) {
      SimRow.Waiter waiter = all.next();
      if (waiter.until > now) {
        return waiter;
      }
      if (world.flaw == Flaw.EXPIRED_WAITER_IS_TOLD && row.isFree()) {
        // it is told that it has the lock, while the next one gets it
        push(waiter, row.revision + 1, waiter.claim.lease().toNanos());
      }
      drop(row, waiter);
      all.remove();
    }
    return null;
  }

  private void drop(SimRow row, SimRow.Waiter waiter) {
    String name = world.nameOf(waiter.claim.id());
    world.record(Kind.EXPIRED, waiter.process.number, row.name, name, "", 0, 1, 0);
  }

  /** Follows every change: a free lock goes to the first waiter, or those that look again are told to. */
  private void settle(SimRow row, long now) {
    if (!row.isFree()) {
      return;
    }
    if (!world.setup.queues) {
      if (!row.freed) {
        return;
      }
      row.freed = false;
      for (Map.Entry<ClaimId, SimProcess> watcher : new ArrayList<>(row.watchers.entrySet())) {
        world.network.push(
            watcher.getValue(), () -> watcher.getValue().store.look(watcher.getKey()));
      }
      return;
    }
    SimRow.Waiter first = firstWaiter(row, now);
    if (first == null) {
      return;
    }
    Claim claim = first.claim;
    long lease = world.flaw == Flaw.PUSH_HAS_THE_WHOLE_LEASE
        ? claim.lease().toNanos()
        : Math.min(claim.lease().toNanos(), world.setup.waiterLease);
    long until = world.flaw == Flaw.NO_EXPIRY ? NEVER : now + lease / 1_000;
    grant(row, claim, first.process, now, now, until, Mode.QUEUE, "push");
    push(first, row.revision, lease);
  }

  private void push(SimRow.Waiter waiter, long revision, long lease) {
    SimProcess process = waiter.process;
    ClaimId id = waiter.claim.id();
    world.network.push(process, () -> process.store.pushed(id, revision, lease));
  }

  private Reply granted(SimRow row, SimProcess from, long now) {
    return new Reply(Status.GRANTED, row.revision, now, row.othersWait(from), false, null);
  }

  private static Reply reply(Status status, long revision, long now) {
    return new Reply(status, revision, now, false, false, null);
  }

  /** Whether anything of living processes is left. */
  boolean isIdle() {
    long now = micros();
    return rows.values().stream()
        .allMatch(row -> (row.isFree() || row.until <= now) && row.watchers.isEmpty());
  }
}
