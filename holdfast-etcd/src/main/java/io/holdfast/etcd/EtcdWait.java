// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.watch.WatchResponse;
import io.holdfast.Moment;
import io.holdfast.spi.Grant;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a queued claim's turn: watches the key just before its own, and no other. A watch that begins at an earlier
 * revision waits for the server's next round of catching up; so this one begins now, and what was there is read once more
 * when it has begun. The turn has come when no older key is there <em>and our own is</em>: it may have died while it was
 * queued.
 */
final class EtcdWait {
  private static final Duration PAUSE = Duration.ofMillis(200);

  /** A look that has had no answer for so long is not waited for any more. */
  private static final long PATIENCE_NANOS = 2_000_000_000L;

  private final EtcdContext context;
  private final EtcdClaim claim;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  private boolean closed;
  private boolean looking;
  private long lookingSince;
  private boolean again;
  private @Nullable EtcdWatch watch;

  EtcdWait(EtcdContext context, EtcdClaim claim) {
    this.context = context;
    this.claim = claim;
  }

  /** Puts the key under the waiters' lease, if it is not, and waits. */
  void begin() {
    long created = claim.place.revision();
    EtcdLease.Term term = claim.place.settled(created);
    if (term != null && term == context.waiting.current()) {
      follow();
      return;
    }
    CompletionStage<Optional<EtcdLease.Term>> move = context.move(claim, created, context.waiting);
    move.whenComplete((moved, failure) -> {
      if (failure != null) {
        context.later(PAUSE, this::retry);
      } else if (moved.isPresent()) {
        follow();
      } else if (claim.place.revision() != created) {
        // it has another key since, which is to be moved as well
        retry();
      } else {
        look();
      }
    });
  }

  private void retry() {
    if (!isClosed()) {
      begin();
    }
  }

  private void follow() {
    EtcdPlace.Ahead ahead = claim.place.ahead();
    if (ahead == null) {
      look();
    } else {
      watch(ahead.key());
    }
  }

  private boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
    unwatch();
  }

  private void watch(ByteSequence key) {
    EtcdWatch mine = new EtcdWatch(key);
    EtcdWatch old;
    lock.lock();
    try {
      old = watch;
      if (closed || (old != null && key.equals(old.key))) {
        return;
      }
      // known before it is begun: what it tells at once must not begin another one
      watch = mine;
    } finally {
      lock.unlock();
    }
    if (old != null) {
      old.close();
    }
    mine.begin(context.calls, new Events());
  }

  private void unwatch() {
    EtcdWatch old;
    lock.lock();
    try {
      old = watch;
      watch = null;
    } finally {
      lock.unlock();
    }
    if (old != null) {
      old.close();
    }
  }

  /** Reads whether the turn has come. One at a time; should it be asked for meanwhile, it is read again. */
  void look() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      long now = context.runtime.ticker().nanos();
      if (looking && now - lookingSince < PATIENCE_NANOS) {
        again = true;
        return;
      }
      looking = true;
      lookingSince = now;
    } finally {
      lock.unlock();
    }
    long revision = claim.place.revision();
    EtcdPlace.Ahead ahead = claim.place.ahead();
    CompletionStage<Optional<EtcdQueues.Seen>> read =
        context.queues.placeIfChanged(claim, revision, ahead);
    read.whenComplete((seen, failure) -> {
      boolean once = lookedOnce();
      if (failure != null) {
        context.later(PAUSE, this::look);
      } else if (!isClosed()) {
        if (seen.isPresent()) {
          saw(revision, seen.get());
        } else if (ahead != null) {
          watch(ahead.key());
        }
        if (once) {
          look();
        }
      }
    });
  }

  private boolean lookedOnce() {
    lock.lock();
    try {
      boolean more = again;
      looking = false;
      again = false;
      return more;
    } finally {
      lock.unlock();
    }
  }

  private void saw(long revision, EtcdQueues.Seen seen) {
    KeyValue own = seen.own();
    if (own == null || own.getCreateRevision() != revision) {
      // our own key died: an attempt that asks again is put at the end
      claim.stopWaiting();
      context.events.lookAgain(claim.claim.id());
      return;
    }
    KeyValue before = seen.before();
    if (before != null) {
      claim.place.behind(revision, before);
      watch(before.getKey());
      return;
    }
    boolean othersWait = seen.count() > 1;
    claim.place.seen(own);
    boolean isFirst = claim.place.first(revision, context.runtime.ticker().now());
    claim.stopWaiting();
    if (!isFirst) {
      // that key has gone, and there is another one since
      context.events.lookAgain(claim.claim.id());
      return;
    }
    EtcdLease.Term maybe = claim.place.term();
    // read before the lease is known to be settled: a move that is noted later looks at what was promised until then
    Moment anchor = maybe == null ? context.runtime.ticker().now() : maybe.anchor();
    EtcdLease.Term term = claim.place.settledAt(own.getModRevision());
    if (term != null && term == maybe && isLongEnough(term, anchor)) {
      granted(revision, anchor, given(term), othersWait);
      return;
    }
    // a move may still come, or there is too little of the lease left: the key is put under the hold's own
    CompletionStage<Optional<EtcdLease.Term>> move =
        context.move(claim, revision, context.lease(claim.claim.lease()));
    move.whenComplete((moved, failure) -> {
      if (failure != null || moved.isEmpty()) {
        context.events.lookAgain(claim.claim.id());
      } else {
        granted(revision, moved.get().anchor(), claim.claim.lease(), othersWait);
      }
    });
  }

  private Duration given(EtcdLease.Term term) {
    Duration lease = claim.claim.lease();
    return term.length().compareTo(lease) < 0 ? term.length() : lease;
  }

  private boolean isLongEnough(EtcdLease.Term term, Moment anchor) {
    return context.runtime.ticker().elapsedNanos(anchor) < given(term).toNanos() / 2;
  }

  private void granted(long revision, Moment anchor, Duration lease, boolean othersWait) {
    context.events.granted(claim.claim.id(), new Grant(revision, anchor, lease, othersWait));
  }

  private final class Events implements Watch.Listener {
    @Override
    public void onNext(WatchResponse response) {
      // it has begun, or begun anew, or the key is gone: in each case what is there counts
      look();
    }

    @Override
    public void onError(Throwable failure) {
      // the client begins anew by itself, or not: then a new watch is needed
      context.later(PAUSE, this::renew);
    }

    private void renew() {
      unwatch();
      look();
    }

    @Override
    public void onCompleted() {
      // it was closed, by us or after an error
    }
  }
}
