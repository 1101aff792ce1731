// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/**
 * The claims that wait: each looks again when nodes say that it may, and when the leases that it saw are due to end. The
 * nodes tell one waiter each, mostly the same one. A majority of them is enough to look at once; fewer are, after a
 * moment in which the others may speak.
 */
final class RedlockWaits {
  /** How long a node remembers a waiter that does not ask again; the engine asks at a third of it. */
  static final Duration LEASE = Duration.ofSeconds(5);

  private static final long MOMENT_NANOS = 2_000_000L;
  private static final long LOOK_LATER_NANOS = 1_000_000L;
  private static final Pattern CLAIM = Pattern.compile("[0-9a-f]+-\\d{1,18}");
  private static final System.Logger LOG = System.getLogger("io.holdfast.redis");

  private final StoreRuntime runtime;
  private final StoreEvents events;
  private final int majority;
  private final Map<ClaimId, Wait> waits = new ConcurrentHashMap<>();

  /** One claim's. */
  private static final class Wait {
    /** The nodes that have told it, a bit for each. */
    final AtomicLong told = new AtomicLong();

    final AtomicBoolean lookIsComing = new AtomicBoolean();
  }

  RedlockWaits(StoreRuntime runtime, StoreEvents events, int majority) {
    this.runtime = runtime;
    this.events = events;
    this.majority = majority;
  }

  /** A claim is about to ask, and will wait if the lock is busy: messages may come before the answer. */
  void asks(Claim claim) {
    waits.putIfAbsent(claim.id(), new Wait());
  }

  /** The claim waits for nothing any more. */
  void over(Claim claim) {
    waits.remove(claim.id());
  }

  /** The leases that are in the way end then. Not all waiters at once: they would split the votes. */
  void lookWhenFree(Claim claim, long leftMicros) {
    Wait wait = waits.get(claim.id());
    if (wait == null || leftMicros > LEASE.toMillis() * 1000) {
      return;
    }
    long jitter = (long) (runtime.random().nextDouble() * 5 * LOOK_LATER_NANOS);
    lookIn(claim.id(), wait, Math.max(0, leftMicros) * 1000 + LOOK_LATER_NANOS + jitter);
  }

  private void lookIn(ClaimId id, Wait wait, long nanos) {
    if (!wait.lookIsComing.compareAndSet(false, true)) {
      return;
    }
    runtime
        .scheduler()
        .schedule(
            () -> {
              wait.lookIsComing.set(false);
              look(id, wait);
            },
            nanos);
  }

  private void look(ClaimId id, Wait wait) {
    wait.told.set(0);
    if (waits.get(id) == wait) {
      events.lookAgain(id);
    }
  }

  /** A node sent a message to this client's channel. */
  void received(int node, byte[] message) {
    String text = new String(message, StandardCharsets.US_ASCII);
    if (!CLAIM.matcher(text).matches()) {
      LOG.log(System.Logger.Level.DEBUG, "a message that is not ours was ignored");
      return;
    }
    ClaimId id = ClaimId.parse(text);
    Wait wait = waits.get(id);
    if (wait == null) {
      return;
    }
    long told = wait.told.accumulateAndGet(1L << node, (all, one) -> all | one);
    if (Long.bitCount(told) >= majority) {
      look(id, wait);
    } else {
      lookIn(id, wait, MOMENT_NANOS);
    }
  }
}
