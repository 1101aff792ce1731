// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.holdfast.Moment;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What this side knows of a claim's key: its place in the queue, when it was last changed, and the lease that it is under.
 *
 * <p>Requests of one client may overtake each other. So each change of the key names the one that it was made after (the
 * mod revision), and is not applied behind another. A move that was sent and not answered may still be applied as long as
 * the key is as that move expects it: until then the key is not sure to stay under its lease.
 *
 * <p>Who was first in the queue stays so as long as its key is there. From then on the key is not put under the waiters'
 * lease any more, whatever an earlier look has said.
 */
final class EtcdPlace {
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  private long revision;
  private long modified;
  private EtcdLease.@Nullable Term term;
  private boolean there;
  private boolean over;
  private long firstAs;
  private @Nullable Moment granted;
  private @Nullable Ahead ahead;

  /** Moves without an answer that may still be applied. */
  private final Set<Move> moves = new HashSet<>();

  /** The key right ahead of a waiter's. No key can come between them: while it is there, the waiter's turn has not come. */
  record Ahead(ByteSequence key, long revision) {}

  /**
   * A key whose place is known.
   *
   * @param revision the key's create revision
   * @param modified when it was last changed
   * @param ahead null of the first
   */
  record Known(long revision, long modified, @Nullable Ahead ahead) {}

  /** A move to another lease, or a try's deletion, and the key that it is for. */
  static final class Move {
    final long revision;
    final long modified;
    final EtcdLease.Term term;

    private Move(long revision, long modified, EtcdLease.Term term) {
      this.revision = revision;
      this.modified = modified;
      this.term = term;
    }
  }

  /** The create revision of the key; 0 if it is not known. */
  long revision() {
    lock.lock();
    try {
      return revision;
    } finally {
      lock.unlock();
    }
  }

  /** The lease that the key was last known to be under; null if it is not known. */
  EtcdLease.@Nullable Term term() {
    lock.lock();
    try {
      return term;
    } finally {
      lock.unlock();
    }
  }

  /** Whether there may be a key. */
  boolean isThere() {
    lock.lock();
    try {
      return there;
    } finally {
      lock.unlock();
    }
  }

  /** The key was made in this revision. */
  void made(long now, EtcdLease.Term under) {
    lock.lock();
    try {
      changed(now, now, under);
    } finally {
      lock.unlock();
    }
  }

  /** The key was read. */
  void seen(KeyValue key) {
    seen(key, null);
  }

  /**
   * The key was read.
   *
   * @param maybe a lease that it may be under, beside the last one that was known
   */
  void seen(KeyValue key, EtcdLease.@Nullable Term maybe) {
    lock.lock();
    try {
      EtcdLease.Term under = term;
      if (under == null || under.id != key.getLease()) {
        under = maybe != null && maybe.id == key.getLease() ? maybe : null;
      }
      changed(key.getCreateRevision(), key.getModRevision(), under);
    } finally {
      lock.unlock();
    }
  }

  private void changed(long created, long now, EtcdLease.@Nullable Term under) {
    if (over) {
      return;
    }
    // answers may overtake each other, too
    if (now > modified) {
      there = true;
      if (revision != created) {
        ahead = null;
      }
      revision = created;
      modified = now;
      term = under;
      moves.removeIf(each -> each.modified < now);
    }
  }

  /** The key that was made in this revision was deleted. */
  void deleted(long created) {
    lock.lock();
    try {
      if (created == revision) {
        there = false;
      }
    } finally {
      lock.unlock();
    }
  }

  /** The claim is over, and its key is another one's from now on: what is read of that is nothing of ours. */
  void over() {
    lock.lock();
    try {
      // the revision stays: no other key will ever have it, so that whatever is compared with it fails
      over = true;
      there = false;
    } finally {
      lock.unlock();
    }
  }

  /**
   * The key that was made in this revision was seen to be the first: it was granted before this moment.
   *
   * @return false if that is not the key that is known now
   */
  boolean first(long created, Moment now) {
    lock.lock();
    try {
      if (over || created != revision) {
        return false;
      }
      if (firstAs != created) {
        firstAs = created;
        granted = now;
        ahead = null;
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Another key was seen right ahead of the one that was made in this revision. */
  void behind(long created, KeyValue before) {
    lock.lock();
    try {
      if (created == revision && firstAs != created) {
        ahead = new Ahead(before.getKey(), before.getCreateRevision());
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns the key that was last seen right ahead; null if there was none, or it is not known. */
  @Nullable
  Ahead ahead() {
    lock.lock();
    try {
      return ahead;
    } finally {
      lock.unlock();
    }
  }

  /** Returns what is known of the place, if the key is the first or the one ahead is known. */
  Optional<Known> known() {
    lock.lock();
    try {
      boolean isKnown = !over && revision != 0 && (firstAs == revision || ahead != null);
      return isKnown ? Optional.of(new Known(revision, modified, ahead)) : Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  boolean isFirst() {
    lock.lock();
    try {
      return firstAs != 0 && firstAs == revision;
    } finally {
      lock.unlock();
    }
  }

  Optional<Moment> grantedBefore() {
    lock.lock();
    try {
      return Optional.ofNullable(granted);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the lease that the key which was made in this revision is under and stays under; null if it is not known, an earlier
   * move may still come, the key was deleted, or another one is known.
   */
  EtcdLease.@Nullable Term settled(long created) {
    lock.lock();
    try {
      return created == revision && there && moves.isEmpty() ? term : null;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the lease that the key is under and stays under, if this is the last mod revision that is known of it. */
  EtcdLease.@Nullable Term settledAt(long lastModified) {
    lock.lock();
    try {
      return lastModified == modified ? settled(revision) : null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Notes a move before it is sent.
   *
   * @param created the create revision of the key that is to be moved
   * @param asWaiter whether it is to the waiters' lease, or a deletion: what a claim that is first has no use for
   * @return empty if that is not the key that is known now or the claim is over; or if the key is the first, and is to be
   *     moved as a waiter's
   */
  Optional<Move> moving(long created, EtcdLease.Term to, boolean asWaiter) {
    lock.lock();
    try {
      if (over || created == 0 || created != revision || (asWaiter && firstAs == revision)) {
        return Optional.empty();
      }
      Move move = new Move(revision, modified, to);
      moves.add(move);
      return Optional.of(move);
    } finally {
      lock.unlock();
    }
  }

  /**
   * A move was applied in this revision.
   *
   * @return false if the key that is known now is not the one that was moved, which has gone since, or the claim is over
   */
  boolean moved(Move move, long now) {
    lock.lock();
    try {
      moves.remove(move);
      changed(move.revision, now, move.term);
      return !over && revision == move.revision;
    } finally {
      lock.unlock();
    }
  }

  /** A move was certainly not applied. */
  void notMoved(Move move) {
    lock.lock();
    try {
      moves.remove(move);
    } finally {
      lock.unlock();
    }
  }
}
