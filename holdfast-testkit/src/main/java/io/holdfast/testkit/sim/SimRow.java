// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One lock in the simulated server. */
final class SimRow {
  /** A claim in the queue. */
  static final class Waiter {
    final Claim claim;
    final SimProcess process;
    long until;

    Waiter(Claim claim, SimProcess process) {
      this.claim = claim;
      this.process = process;
    }
  }

  final String name;

  @Nullable
  Claim holder;

  @Nullable
  SimProcess holderProcess;

  long revision;
  long since;
  long until;
  boolean kept;

  /** Whether nobody was told yet that it is free. */
  boolean freed;

  /** First come, first served. */
  final List<Waiter> waiters = new ArrayList<>();

  /** Who is to be told when the lock is free, on a store where waiters look again. */
  final Map<ClaimId, SimProcess> watchers = new LinkedHashMap<>();

  /** The highest token that the resource has taken. */
  long written;

  SimRow(String name) {
    this.name = name;
  }

  /** Returns one that is the same; who looks again at this one looks again at that one too. */
  SimRow copy() {
    SimRow copy = new SimRow(name);
    copy.holder = holder;
    copy.holderProcess = holderProcess;
    copy.revision = revision;
    copy.since = since;
    copy.until = until;
    copy.kept = kept;
    copy.freed = freed;
    for (Waiter each : waiters) {
      Waiter waiter = new Waiter(each.claim, each.process);
      waiter.until = each.until;
      copy.waiters.add(waiter);
    }
    copy.watchers.putAll(watchers);
    copy.written = written;
    return copy;
  }

  boolean isHeldBy(ClaimId id) {
    return holder != null && holder.id().equals(id);
  }

  boolean isFree() {
    return holder == null && !kept;
  }

  @Nullable
  Waiter waiter(ClaimId id) {
    for (Waiter waiter : waiters) {
      if (waiter.claim.id().equals(id)) {
        return waiter;
      }
    }
    return null;
  }

  boolean othersWait(SimProcess process) {
    for (Waiter waiter : waiters) {
      if (waiter.process != process) {
        return true;
      }
    }
    for (SimProcess watcher : watchers.values()) {
      if (watcher != process) {
        return true;
      }
    }
    return false;
  }
}
