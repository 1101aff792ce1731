// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Reads where claims stand in their queues. To find the key right ahead of one, a member reads the whole queue, whatever it
 * sends of it. So the claims of a lock do not ask side by side: one asks, and those that come while its answer is under way
 * have the queue listed once for all of them. A thousand waiters that lost their places together would else keep a slow
 * server from renewing leases, lose their new places for that, and ask again.
 *
 * <p>A read that has no answer for long is waited for only by those that it is for: what was asked since is sent then.
 */
final class EtcdQueues {
  /**
   * A longer queue is read for each claim. So many keys with the longest names, and a prefix of a thousand bytes, fit into the
   * 4 MiB that a client takes by default.
   */
  static final int LISTED = 2_048;

  /** What is asked later than this after a read was sent does not wait for its answer. */
  static final Duration PATIENCE = Duration.ofMillis(500);

  /** The server takes 128 comparisons in a transaction by default; a claim needs two. */
  private static final int COMPARED = 60;

  private final EtcdContext context;
  private final GetOption allKeys;
  private final long patienceNanos;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  /** For each lock whose queue is being read, the last read. */
  private final Map<LockKey, Read> underWay = new HashMap<>();

  EtcdQueues(EtcdContext context, int longest, Duration patience) {
    this.context = context;
    this.patienceNanos = patience.toNanos();
    this.allKeys =
        GetOption.builder().isPrefix(true).withLimit(longest).withKeysOnly(true).build();
  }

  /**
   * What was read at one moment.
   *
   * @param own the claim's key, without value and lease if it was read for several claims; null if there is none
   * @param before the last key that was made before the claim's; null if there is none
   * @param first the first key with its value; null if the queue is empty, or if no claim asked for it
   * @param count how many keys there are
   */
  record Seen(
      @Nullable KeyValue own,
      @Nullable KeyValue before,
      @Nullable KeyValue first,
      long count) {}

  /** A claim whose place is asked for, and what is known of it. */
  private record Ask(
      EtcdClaim claim,
      long revision,
      EtcdPlace.@Nullable Ahead ahead,
      boolean withFirst,
      CompletableFuture<Optional<Seen>> answer) {

    static Ask of(
        EtcdClaim claim, long revision, EtcdPlace.@Nullable Ahead ahead, boolean withFirst) {
      return new Ask(claim, revision, ahead, withFirst, new CompletableFuture<>());
    }

    /** Adds the comparisons that are true as long as nothing has changed. */
    void addTo(List<Cmp> unchanged, EtcdPlace.Ahead known) {
      unchanged.add(new Cmp(claim.key, Cmp.Op.EQUAL, CmpTarget.createRevision(revision)));
      unchanged.add(EtcdContext.isThere(known));
    }
  }

  /** What is read in one request, and what was asked since that was sent. */
  private static final class Read {
    final List<Ask> asks;
    final long sentAt;

    /** Guarded by the lock. */
    final List<Ask> since = new ArrayList<>();

    Read(List<Ask> asks, long sentAt) {
      this.asks = List.copyOf(asks);
      this.sentAt = sentAt;
    }
  }

  /** Reads a claim's place, by the create revision that is known of its key, and the first key. */
  CompletableFuture<Seen> place(EtcdClaim claim, long revision) {
    return ask(Ask.of(claim, revision, null, true)).thenApply(Optional::orElseThrow);
  }

  /**
   * Reads the place of a claim that waits, unless it is the one that is known.
   *
   * @param ahead the key right ahead, if it is known
   * @return empty if the claim's key and that one were compared, and are still there
   */
  CompletableFuture<Optional<Seen>> placeIfChanged(
      EtcdClaim claim, long revision, EtcdPlace.@Nullable Ahead ahead) {
    return ask(Ask.of(claim, revision, ahead, false));
  }

  private CompletableFuture<Optional<Seen>> ask(Ask ask) {
    LockKey name = ask.claim.claim.name();
    Runnable then;
    lock.lock();
    try {
      Read last = underWay.get(name);
      if (last == null) {
        Read first = begun(name, List.of(ask));
        then = () -> send(name, first);
      } else {
        then = last.since.isEmpty() ? () -> sendOnLater(name, last) : () -> {};
        last.since.add(ask);
      }
    } finally {
      lock.unlock();
    }
    then.run();
    return ask.answer;
  }

  private void sendOnLater(LockKey name, Read waitedFor) {
    long left = waitedFor.sentAt + patienceNanos - context.runtime.ticker().nanos();
    context.later(
        Duration.ofNanos(Math.max(0, left)),
        () -> next(name, waitedFor).ifPresent(next -> send(name, next)));
  }

  private Read begun(LockKey name, List<Ask> asks) {
    Read read = new Read(asks, context.runtime.ticker().nanos());
    underWay.put(name, read);
    return read;
  }

  /** A read is not waited for any more: returns the next one, if any claim has asked since it was sent. */
  private Optional<Read> next(LockKey name, Read before) {
    lock.lock();
    try {
      if (underWay.get(name) != before) {
        return Optional.empty();
      }
      if (before.since.isEmpty()) {
        underWay.remove(name);
        return Optional.empty();
      }
      return Optional.of(begun(name, before.since));
    } finally {
      lock.unlock();
    }
  }

  private void send(LockKey name, Read read) {
    List<Ask> asks = read.asks;
    CompletionStage<Optional<List<GetResponse>>> sent =
        unless(unchanged(asks), asks.size() == 1 ? reads(asks.get(0)) : list(name, asks));
    sent.whenComplete((found, failure) -> {
      next(name, read).ifPresent(next -> send(name, next));
      if (failure == null) {
        answer(asks, found);
      } else {
        fail(asks, failure);
      }
    });
  }

  private void readAlone(Ask ask) {
    List<Ask> alone = List.of(ask);
    CompletionStage<Optional<List<GetResponse>>> sent = unless(unchanged(alone), reads(ask));
    sent.whenComplete((found, failure) -> {
      if (failure == null) {
        answer(alone, found);
      } else {
        fail(alone, failure);
      }
    });
  }

  private void answer(List<Ask> asks, Optional<List<GetResponse>> found) {
    if (found.isEmpty()) {
      asks.forEach(each -> each.answer.complete(Optional.empty()));
    } else if (asks.size() == 1) {
      tell(asks.get(0), found.get());
    } else if (found.get().get(0).isMore()) {
      asks.forEach(this::readAlone);
    } else {
      tell(asks, found.get());
    }
  }

  private static void fail(List<Ask> asks, Throwable failure) {
    asks.forEach(each -> each.answer.completeExceptionally(failure));
  }

  /** What is read for one claim: its key, the one ahead, and the first one or how many there are. */
  private List<Op> reads(Ask ask) {
    ByteSequence queue = context.queue(ask.claim);
    return List.of(
        Op.get(ask.claim.key, GetOption.DEFAULT),
        Op.get(queue, EtcdContext.lastBefore(ask.revision)),
        Op.get(queue, ask.withFirst ? EtcdContext.FIRST : EtcdContext.COUNT));
  }

  private static void tell(Ask ask, List<GetResponse> found) {
    ask.answer.complete(Optional.of(new Seen(
        one(found.get(0)),
        one(found.get(1)),
        ask.withFirst ? one(found.get(2)) : null,
        found.get(2).getCount())));
  }

  /** What is read for several: all keys, and the first one if any of them asked for it. */
  private List<Op> list(LockKey name, List<Ask> asks) {
    ByteSequence queue = context.keys.queue(name);
    Op all = Op.get(queue, allKeys);
    return asks.stream().anyMatch(Ask::withFirst)
        ? List.of(all, Op.get(queue, EtcdContext.FIRST))
        : List.of(all);
  }

  /** Returns the key that was read; null if there is none. */
  static @Nullable KeyValue one(GetResponse read) {
    return read.getKvs().isEmpty() ? null : read.getKvs().get(0);
  }

  /** What is true as long as no claim's place has changed; empty if of one it is not known, or there are too many. */
  private static List<Cmp> unchanged(List<Ask> asks) {
    List<Cmp> unchanged = new ArrayList<>();
    for (Ask each : asks) {
      EtcdPlace.Ahead ahead = each.ahead;
      if (ahead == null || unchanged.size() >= 2 * COMPARED) {
        return List.of();
      }
      each.addTo(unchanged, ahead);
    }
    return unchanged;
  }

  /** Reads, unless all comparisons are true; without any, it reads. */
  private CompletableFuture<Optional<List<GetResponse>>> unless(
      List<Cmp> unchanged, List<Op> reads) {
    return unchanged.isEmpty()
        ? context
            .calls
            .look(List.of(), reads, List.of())
            .thenApply(seen -> Optional.of(seen.getGetResponses()))
        : context
            .calls
            .look(unchanged, List.of(), reads)
            .thenApply(seen ->
                seen.isSucceeded() ? Optional.empty() : Optional.of(seen.getGetResponses()));
  }

  private static void tell(List<Ask> asks, List<GetResponse> found) {
    GetResponse all = found.get(0);
    KeyValue first = found.size() > 1 ? one(found.get(1)) : null;
    Map<ByteSequence, KeyValue> byKey = new HashMap<>();
    TreeMap<Long, KeyValue> byAge = new TreeMap<>();
    for (KeyValue each : all.getKvs()) {
      byKey.put(each.getKey(), each);
      byAge.put(each.getCreateRevision(), each);
    }
    for (Ask each : asks) {
      Map.Entry<Long, KeyValue> before = byAge.lowerEntry(each.revision);
      each.answer.complete(Optional.of(new Seen(
          byKey.get(each.claim.key),
          before == null ? null : before.getValue(),
          first,
          all.getCount())));
    }
  }
}
