// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.Scheduler;
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
 * <p>A read that has no answer is repeated after a while, with what was asked since: another member may answer it.
 */
final class EtcdQueues {
  /** A longer queue is not listed: with the longest names, so many keys fit into the 4 MiB that a client takes by default. */
  static final int LISTED = 2_048;

  /** After how long a read is repeated, before the second time after twice as long, and so on. */
  static final Duration PATIENCE = Duration.ofMillis(500);

  private static final Duration MOST_PATIENCE = Duration.ofSeconds(8);

  /** The server takes 128 comparisons in a transaction by default; a claim needs two. */
  private static final int COMPARED = 60;

  private final EtcdContext context;
  private final GetOption allKeys;
  private final Duration patience;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  /** For each lock whose queue is being read, the last read. */
  private final Map<LockKey, Read> underWay = new HashMap<>();

  EtcdQueues(EtcdContext context, int longest, Duration patience) {
    this.context = context;
    this.patience = patience;
    this.allKeys =
        GetOption.builder().isPrefix(true).withLimit(longest).withKeysOnly(true).build();
  }

  /**
   * What was read at one moment.
   *
   * @param own the claim's key without its value; null if there is none
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
    final Duration patience;

    /** Guarded by the lock. */
    final List<Ask> next = new ArrayList<>();

    Read(List<Ask> asks, Duration patience) {
      this.asks = List.copyOf(asks);
      this.patience = patience;
    }
  }

  /** Reads a claim's place, by the create revision that is known of its key, and the first key. */
  CompletableFuture<Seen> place(EtcdClaim claim, long revision) {
    return ask(Ask.of(claim, revision, null, true)).thenApply(Optional::orElseThrow);
  }

  /**
   * Reads the place of a claim that waits.
   *
   * @param ahead the key right ahead, if it is known
   * @return empty if the claim's key and that one are still there and nothing else had to be read
   */
  CompletableFuture<Optional<Seen>> changes(
      EtcdClaim claim, long revision, EtcdPlace.@Nullable Ahead ahead) {
    return ask(Ask.of(claim, revision, ahead, false));
  }

  private CompletableFuture<Optional<Seen>> ask(Ask ask) {
    LockKey name = ask.claim.claim.name();
    Read begun;
    lock.lock();
    try {
      Read last = underWay.get(name);
      if (last != null) {
        last.next.add(ask);
        return ask.answer;
      }
      begun = begun(name, List.of(ask), patience);
    } finally {
      lock.unlock();
    }
    send(name, begun);
    return ask.answer;
  }

  private Read begun(LockKey name, List<Ask> asks, Duration patience) {
    Read read = new Read(asks, patience);
    underWay.put(name, read);
    return read;
  }

  private void send(LockKey name, Read read) {
    Scheduler.Scheduled overdue =
        context.runtime.scheduler().schedule(() -> repeat(name, read), read.patience.toNanos());
    CompletionStage<?> sent =
        read.asks.size() == 1 ? alone(read.asks.get(0)) : together(name, read.asks);
    sent.whenComplete((done, failure) -> {
      overdue.cancel();
      // one that was repeated leaves it to the repetition to fail
      if (failure != null && isUnderWay(name, read)) {
        read.asks.forEach(each -> each.answer.completeExceptionally(failure));
      }
      next(name, read).ifPresent(next -> send(name, next));
    });
  }

  private boolean isUnderWay(LockKey name, Read read) {
    lock.lock();
    try {
      return underWay.get(name) == read;
    } finally {
      lock.unlock();
    }
  }

  /** A read has had no answer for long. */
  private void repeat(LockKey name, Read read) {
    Read again;
    lock.lock();
    try {
      if (underWay.get(name) != read) {
        return;
      }
      List<Ask> asks = new ArrayList<>(read.asks);
      asks.removeIf(each -> each.answer.isDone());
      asks.addAll(read.next);
      if (asks.isEmpty()) {
        underWay.remove(name);
        return;
      }
      Duration twice = read.patience.multipliedBy(2);
      again = begun(name, asks, twice.compareTo(MOST_PATIENCE) < 0 ? twice : MOST_PATIENCE);
    } finally {
      lock.unlock();
    }
    send(name, again);
  }

  /** A read was answered: returns the next one, if any claim has asked since that was sent. */
  private Optional<Read> next(LockKey name, Read answered) {
    lock.lock();
    try {
      // one that was repeated has passed on what was asked
      if (underWay.get(name) != answered) {
        return Optional.empty();
      }
      if (answered.next.isEmpty()) {
        underWay.remove(name);
        return Optional.empty();
      }
      return Optional.of(begun(name, answered.next, patience));
    } finally {
      lock.unlock();
    }
  }

  private CompletableFuture<?> alone(Ask ask) {
    ByteSequence queue = context.queue(ask.claim);
    List<Op> reads = List.of(
        Op.get(ask.claim.key, EtcdContext.KEY),
        Op.get(queue, EtcdContext.lastBefore(ask.revision)),
        Op.get(queue, ask.withFirst ? EtcdContext.FIRST : EtcdContext.COUNT));
    return unless(unchanged(List.of(ask)), reads)
        .thenAccept(found -> ask.answer.complete(found.map(read -> new Seen(
            one(read.get(0)),
            one(read.get(1)),
            ask.withFirst ? one(read.get(2)) : null,
            read.get(2).getCount()))));
  }

  /** Returns the key that was read; null if there is none. */
  private static @Nullable KeyValue one(GetResponse read) {
    return read.getKvs().isEmpty() ? null : read.getKvs().get(0);
  }

  private CompletableFuture<?> together(LockKey name, List<Ask> asks) {
    ByteSequence queue = context.keys.queue(name);
    List<Op> reads = new ArrayList<>();
    reads.add(Op.get(queue, allKeys));
    if (asks.stream().anyMatch(each -> each.withFirst)) {
      reads.add(Op.get(queue, EtcdContext.FIRST));
    }
    return unless(unchanged(asks), reads).thenCompose(found -> {
      if (found.isEmpty()) {
        asks.forEach(each -> each.answer.complete(Optional.empty()));
      } else if (found.get().get(0).isMore()) {
        return CompletableFuture.allOf(
            asks.stream().map(this::alone).toArray(CompletableFuture[]::new));
      } else {
        List<GetResponse> read = found.get();
        tell(asks, read.get(0), read.size() > 1 ? one(read.get(1)) : null);
      }
      return CompletableFuture.completedFuture(null);
    });
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
            .txn(List.of(), reads, List.of())
            .thenApply(seen -> Optional.of(seen.getGetResponses()))
        : context
            .calls
            .txn(unchanged, List.of(), reads)
            .thenApply(seen ->
                seen.isSucceeded() ? Optional.empty() : Optional.of(seen.getGetResponses()));
  }

  private static void tell(List<Ask> asks, GetResponse all, @Nullable KeyValue first) {
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
