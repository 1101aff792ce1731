// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.history.Kind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the reference server stores, a row for each lock, and what happens to a row: grants, ends, places in the queue.
 * Everything that happens is written into the history.
 */
final class SimRows {
  private static final long NEVER = SimServer.NEVER;

  private final SimWorld world;
  private final SimServer clock;
  private final Map<String, SimRow> rows = new LinkedHashMap<>();

  SimRows(SimWorld world, SimServer clock) {
    this.world = world;
    this.clock = clock;
  }

  Map<String, SimRow> copy() {
    Map<String, SimRow> copies = new LinkedHashMap<>();
    rows.forEach((lock, row) -> copies.put(lock, row.copy()));
    return copies;
  }

  /** Takes over what was copied; what a lock guards is not part of it. */
  void become(Map<String, SimRow> copies) {
    Map<String, Long> written = new LinkedHashMap<>();
    rows.forEach((lock, row) -> written.put(lock, row.written));
    rows.clear();
    copies.forEach((lock, row) -> rows.put(lock, row.copy()));
    written.forEach((lock, token) -> rows.computeIfAbsent(lock, SimRow::new).written = token);
  }

  Collection<SimRow> all() {
    return rows.values();
  }

  /** Returns what is known of a lock; null if nothing is. */
  @Nullable
  SimRow find(String lock) {
    return rows.get(lock);
  }

  SimRow row(LockKey key) {
    SimRow row = rows.computeIfAbsent(key.name(), SimRow::new);
    if (row.isFree() && row.revision != 0 && clock.micros() > row.revision + retentionMicros()) {
      row.revision = 0;
    }
    return row;
  }

  private long retentionMicros() {
    return world.setup.retention / 1_000;
  }

  void expire(SimRow row, long now) {
    if (!row.isFree() && row.until <= now) {
      String claim = row.holder == null ? "" : world.nameOf(row.holder.id());
      world.record(Kind.EXPIRED, number(row.holderProcess), row.name, claim, "", 0, 0, 0);
      free(row);
    }
  }

  void free(SimRow row) {
    row.holder = null;
    row.holderProcess = null;
    row.kept = false;
    row.freed = true;
    if (world.flaw == Flaw.ROW_DELETED_AT_RELEASE) {
      row.revision = 0;
    }
  }

  long leaseEnd(Claim claim, long now, long clientMicros) {
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

  void extend(SimRow row, Claim asking, long until) {
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
      world.probeAt(clock.worldTimeOf(until), row.holderProcess, row.name, row.revision);
    }
  }

  private static int number(@Nullable SimProcess process) {
    return process == null ? -1 : process.number;
  }

  /** By the client's clock, the lease ends when its owner thinks that it does. */
  private long inHistory(long until) {
    return world.flaw == Flaw.EXPIRY_BY_CLIENT_CLOCK
        ? world.now + world.setup.lease / 2
        : clock.worldTimeOf(until);
  }

  void grant(
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
    world.probeAt(clock.worldTimeOf(until), process, row.name, row.revision);
  }

  private long nextRevision(SimRow row, long now, long clientMicros) {
    if (world.flaw == Flaw.REVISION_BY_CLIENT_CLOCK) {
      return clientMicros;
    }
    return world.flaw == Flaw.REVISION_IS_TIME ? now : Math.max(row.revision + 1, now);
  }

  void release(SimRow row, Claim asking, long keepForMicros, long now) {
    Claim holder = Objects.requireNonNull(row.holder);
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
        row.kept ? clock.worldTimeOf(row.until) : world.now);
  }

  void enqueue(SimRow row, Claim claim, SimProcess process, long now) {
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

  void refresh(SimRow row, SimRow.Waiter waiter, long now) {
    waiter.until = now + world.setup.waiterLease / 1_000;
    world.record(
        Kind.QUEUED,
        waiter.process.number,
        row.name,
        world.nameOf(waiter.claim.id()),
        "",
        0,
        waiter.claim.fair() ? 1 : 0,
        clock.worldTimeOf(waiter.until));
  }

  /** The waiter whose turn it is; those whose time is up are dropped. */
  SimRow.@Nullable Waiter firstWaiter(SimRow row, long now) {
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

  void drop(SimRow row, SimRow.Waiter waiter) {
    String name = world.nameOf(waiter.claim.id());
    world.record(Kind.EXPIRED, waiter.process.number, row.name, name, "", 0, 1, 0);
  }

  /** Follows every change: a free lock goes to the first waiter, or those that look again are told to. */
  void settle(SimRow row, long now) {
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
}
