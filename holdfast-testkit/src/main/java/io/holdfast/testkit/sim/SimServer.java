// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.history.Kind;
import io.holdfast.testkit.sim.Reply.Status;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The reference lock server, passive like a script or a statement: it does what a request says, when it comes, and
 * notices the end of leases on the way. It has a clock of its own and writes down what it does. Where it differs from the
 * rules that stores keep, a {@link Flaw} says so.
 */
final class SimServer {
  private static final long START_MICROS = 1_767_225_600_000_000L;
  static final long NEVER = Long.MAX_VALUE / 4;

  private final SimWorld world;
  private final double rate;
  private final SimRows rows;
  private final Map<String, Long> epochs = new HashMap<>();
  private long aheadMicros;
  private boolean down;

  SimServer(SimWorld world) {
    this.world = world;
    this.rate = world.setup.storeRate;
    this.rows = new SimRows(world, this);
  }

  // its clock

  long micros() {
    return START_MICROS + aheadMicros + (long) (world.now * rate / 1_000);
  }

  /** When the clock reads a time; two microseconds early, so that rounding never makes a lease look longer. */
  long worldTimeOf(long micros) {
    return micros >= NEVER
        ? NEVER
        : (long) ((micros - START_MICROS - aheadMicros) * 1_000 / rate) - 2_000;
  }

  void step(long micros) {
    boolean open = rows.all().stream().anyMatch(row -> !row.isFree() || !row.waiters.isEmpty());
    aheadMicros += micros;
    world.record(Kind.STORE_STEPPED, -1, "", "", "", (long) (micros * 1_000 / rate), 0, 0);
    if (open) {
      world.count(Fault.STORE_STEP);
    }
  }

  // its death, and who takes its place

  /** Whether it is dead: nothing arrives. */
  boolean isDown() {
    return down;
  }

  void down(boolean dead) {
    down = dead;
  }

  /** What a replica would have that had heard of everything. */
  Map<String, SimRow> copy() {
    return rows.copy();
  }

  /** A replica takes its place, with what it has heard of, and a clock that is behind. */
  void become(Map<String, SimRow> heard, long behindMicros) {
    rows.become(heard);
    step(-behindMicros);
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
    SimRow row = rows.row(claim.name());
    rows.expire(row, world.flaw == Flaw.EXPIRY_BY_CLIENT_CLOCK ? clientMicros : now);
    if (row.isHeldBy(claim.id())) {
      rows.extend(row, claim, rows.leaseEnd(claim, now, clientMicros));
      return granted(row, from, now);
    }
    if (row.isFree() && isItsTurn(row, claim, mode, now)) {
      rows.grant(
          row, claim, from, now, clientMicros, rows.leaseEnd(claim, now, clientMicros), mode, "");
      return granted(row, from, now);
    }
    return busy(row, from, claim, mode, now);
  }

  private Reply busy(SimRow row, SimProcess from, Claim claim, Mode mode, long now) {
    Holder holder = row.holder == null ? null : row.holder.holder();
    boolean waits = mode == Mode.QUEUE || world.flaw == Flaw.TRY_LEAVES_A_WAITER;
    boolean queued = waits && (world.setup.queues || claim.fair());
    if (queued) {
      rows.enqueue(row, claim, from, now);
    }
    if (waits && !world.setup.queues && world.flaw != Flaw.SUBSCRIBED_AFTER_THE_CHECK) {
      row.watchers.put(claim.id(), from);
    }
    rows.settle(row, now);
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
    SimRow.Waiter first = rows.firstWaiter(row, now);
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
    SimRow row = rows.row(claim.name());
    if (world.flaw != Flaw.EXPIRY_BY_CLIENT_CLOCK) {
      rows.expire(row, now);
    }
    long until = rows.leaseEnd(claim, now, now);
    if (row.isHeldBy(claim.id())) {
      rows.extend(row, claim, until);
      return granted(row, from, now);
    }
    SimRow.Waiter waiter = row.waiter(claim.id());
    if (waiter != null && waiter.until <= now) {
      rows.drop(row, waiter);
      row.waiters.remove(waiter);
      waiter = null;
    }
    if (waiter == null) {
      if (world.flaw == Flaw.RENEWAL_WITHOUT_OWNER_CHECK && row.holder != null) {
        rows.extend(row, claim, until);
        return granted(row, from, now);
      }
      if (world.flaw == Flaw.RENEWAL_CREATES && row.isFree()) {
        row.holder = claim;
        row.holderProcess = from;
        rows.extend(row, claim, until);
        return granted(row, from, now);
      }
      rows.settle(row, now);
      return reply(Status.GONE, 0, now);
    }
    rows.refresh(row, waiter, now);
    if (row.isFree() && rows.firstWaiter(row, now) == waiter) {
      rows.grant(row, claim, from, now, now, until, Mode.QUEUE, "");
      return granted(row, from, now);
    }
    rows.settle(row, now);
    return new Reply(Status.QUEUED, row.revision, now, row.othersWait(from), false, null);
  }

  Reply end(
      SimProcess from, Claim claim, long keepForMicros, long lastGiveUpMicros, long newEpoch) {
    long now = micros();
    SimRow row = rows.row(claim.name());
    rows.expire(row, now);
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
      rows.release(row, claim, keepForMicros, now);
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
    rows.settle(row, now);
    return new Reply(found, 0, now, othersWait, isFinal, null);
  }

  Map<ClaimId, LockKey> own(String client) {
    Map<ClaimId, LockKey> own = new LinkedHashMap<>();
    for (SimRow row : rows.all()) {
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
    SimRow row = rows.find(lock);
    return row == null || row.holder == null ? 0 : row.revision;
  }

  void evict(String lock, long revision) {
    SimRow row = rows.find(lock);
    long now = micros();
    if (row == null || down) {
      return;
    }
    rows.expire(row, now);
    Claim holder = row.holder;
    if (holder != null && (row.revision == revision || world.flaw == Flaw.EVICT_WITHOUT_REVISION)) {
      world.count(Fault.EVICT);
      world.record(Kind.EVICTED, -1, lock, world.nameOf(holder.id()), "", revision, 0, 0);
      rows.free(row);
      rows.settle(row, now);
    }
  }

  /** The resource that a lock guards: takes a write with a token that is not lower than any before. */
  void write(SimProcess from, String lock, long token) {
    SimRow row = rows.find(lock);
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
    SimRow row = rows.row(claim.name());
    rows.expire(row, now);
    if (row.holder != null) {
      rows.release(row, claim, keepForMicros, now);
      rows.settle(row, now);
    }
    return new Reply(Status.RELEASED, 0, now, false, true, null);
  }

  boolean isHeldBy(Claim claim) {
    SimRow row = rows.row(claim.name());
    rows.expire(row, micros());
    return row.isHeldBy(claim.id());
  }

  /** The second half of a subscription that comes after the check. */
  void subscribe(SimProcess from, Claim claim) {
    rows.row(claim.name()).watchers.put(claim.id(), from);
  }

  /** The second half of a lock without an expiry. */
  void expireLater(Claim claim) {
    SimRow row = rows.row(claim.name());
    if (row.isHeldBy(claim.id())) {
      rows.extend(row, claim, micros() + claim.lease().toNanos() / 1_000);
    }
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
    return rows.all().stream()
        .allMatch(row -> (row.isFree() || row.until <= now) && row.watchers.isEmpty());
  }
}
