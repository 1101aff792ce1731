// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.spi.LockKey;
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
 */
final class EtcdQueues {
  /** A read that has had no answer for so long is not waited for any more: claims that ask then are read for at once. */
  private static final long PATIENCE_NANOS = 1_000_000_000L;

  private final EtcdContext context;
  private final GetOption allKeys;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  /** For each lock whose queue is being read, the last read. */
  private final Map<LockKey, Read> underWay = new HashMap<>();

  /**
   * Makes the reader of a client.
   *
   * @param longest a longer queue is not listed: its keys may not fit into an answer
   */
  EtcdQueues(EtcdContext context, int longest) {
    this.context = context;
    this.allKeys =
        GetOption.builder().isPrefix(true).withLimit(longest).withKeysOnly(true).build();
  }

  /**
   * What was read at one moment.
   *
   * @param own the claim's key without its value; null if there is none
   * @param before the last key that was made before the claim's; null if there is none
   * @param first the first key with its value; null if the queue is empty, or that was not asked for
   * @param count how many keys there are
   */
  record Seen(
      @Nullable KeyValue own,
      @Nullable KeyValue before,
      @Nullable KeyValue first,
      long count) {}

  /** What is read in one request, and what was asked for since that was sent. */
  private static final class Read {
    final List<Ask> asks;
    final long since;

    /** Guarded by the lock. */
    final List<Ask> next = new ArrayList<>();

    Read(List<Ask> asks, long since) {
      this.asks = asks;
      this.since = since;
    }
  }

  /** A claim whose place is asked for, and what is known of it. */
  private static final class Ask {
    final EtcdClaim claim;
    final long revision;
    final EtcdPlace.@Nullable Ahead ahead;
    final boolean withFirst;
    final CompletableFuture<Optional<Seen>> answer = new CompletableFuture<>();

    Ask(EtcdClaim claim, long revision, EtcdPlace.@Nullable Ahead ahead, boolean withFirst) {
      this.claim = claim;
      this.revision = revision;
      this.ahead = ahead;
      this.withFirst = withFirst;
    }
  }

  /** Reads a claim's place, by the create revision that is known of its key, and the first key. */
  CompletableFuture<Seen> place(EtcdClaim claim, long revision) {
    return ask(new Ask(claim, revision, null, true)).thenApply(Optional::orElseThrow);
  }

  /**
   * Reads the place of a claim that waits, unless nothing has changed.
   *
   * @param ahead the key right ahead, if it is known
   * @return empty if the claim's key and that one are still there; without the first key
   */
  CompletableFuture<Optional<Seen>> changes(
      EtcdClaim claim, long revision, EtcdPlace.@Nullable Ahead ahead) {
    return ask(new Ask(claim, revision, ahead, false));
  }

  private CompletableFuture<Optional<Seen>> ask(Ask ask) {
    LockKey name = ask.claim.claim.name();
    Read begun;
    lock.lock();
    try {
      List<Ask> asks = new ArrayList<>();
      Read last = underWay.get(name);
      if (last != null) {
        if (context.runtime.ticker().nanos() - last.since < PATIENCE_NANOS) {
          last.next.add(ask);
          return ask.answer;
        }
        asks.addAll(last.next);
      }
      asks.add(ask);
      begun = begun(name, asks);
    } finally {
      lock.unlock();
    }
    send(name, begun);
    return ask.answer;
  }

  private Read begun(LockKey name, List<Ask> asks) {
    Read read = new Read(List.copyOf(asks), context.runtime.ticker().nanos());
    underWay.put(name, read);
    return read;
  }

  private void send(LockKey name, Read read) {
    List<Ask> asks = read.asks;
    CompletionStage<List<Optional<Seen>>> sent =
        asks.size() == 1 ? alone(asks.get(0)).thenApply(List::of) : together(name, asks);
    sent.whenComplete((seen, failure) -> {
      next(name, read).ifPresent(next -> send(name, next));
      for (int i = 0; i < asks.size(); i++) {
        if (failure == null) {
          asks.get(i).answer.complete(seen.get(i));
        } else {
          asks.get(i).answer.completeExceptionally(failure);
        }
      }
    });
  }

  /** A read was answered: returns the next one, if any claim has asked since that was sent. */
  private Optional<Read> next(LockKey name, Read answered) {
    lock.lock();
    try {
      // one that was waited for too long has passed on what was asked
      if (underWay.get(name) != answered) {
        return Optional.empty();
      }
      if (answered.next.isEmpty()) {
        underWay.remove(name);
        return Optional.empty();
      }
      return Optional.of(begun(name, answered.next));
    } finally {
      lock.unlock();
    }
  }

  private CompletableFuture<Optional<Seen>> alone(Ask ask) {
    ByteSequence queue = context.queue(ask.claim);
    List<Op> reads = List.of(
        Op.get(ask.claim.key, EtcdContext.KEY),
        Op.get(queue, EtcdContext.lastBefore(ask.revision)),
        Op.get(queue, ask.withFirst ? EtcdContext.FIRST : EtcdContext.COUNT));
    EtcdPlace.Ahead ahead = ask.ahead;
    CompletableFuture<TxnResponse> read = ahead == null
        ? context.calls.txn(List.of(), reads, List.of())
        : context.calls.txn(
            List.of(
                new Cmp(ask.claim.key, Cmp.Op.EQUAL, CmpTarget.createRevision(ask.revision)),
                EtcdContext.isThere(ahead)),
            List.of(),
            reads);
    return read.thenApply(seen -> {
      if (ahead != null && seen.isSucceeded()) {
        return Optional.empty();
      }
      List<GetResponse> found = seen.getGetResponses();
      return Optional.of(new Seen(
          one(found.get(0)),
          one(found.get(1)),
          ask.withFirst ? one(found.get(2)) : null,
          found.get(2).getCount()));
    });
  }

  /** Returns the key that was read; null if there is none. */
  static @Nullable KeyValue one(GetResponse read) {
    return read.getKvs().isEmpty() ? null : read.getKvs().get(0);
  }

  private CompletableFuture<List<Optional<Seen>>> together(LockKey name, List<Ask> asks) {
    ByteSequence queue = context.keys.queue(name);
    return context
        .calls
        .txn(
            List.of(), List.of(Op.get(queue, allKeys), Op.get(queue, EtcdContext.FIRST)), List.of())
        .thenCompose(read -> {
          GetResponse all = read.getGetResponses().get(0);
          return all.isMore()
              ? eachAlone(asks)
              : CompletableFuture.completedFuture(
                  places(asks, all, one(read.getGetResponses().get(1))));
        });
  }

  private static List<Optional<Seen>> places(
      List<Ask> asks, GetResponse all, @Nullable KeyValue first) {
    Map<ByteSequence, KeyValue> byKey = new HashMap<>();
    TreeMap<Long, KeyValue> byAge = new TreeMap<>();
    for (KeyValue each : all.getKvs()) {
      byKey.put(each.getKey(), each);
      byAge.put(each.getCreateRevision(), each);
    }
    List<Optional<Seen>> places = new ArrayList<>();
    for (Ask each : asks) {
      Map.Entry<Long, KeyValue> before = byAge.lowerEntry(each.revision);
      places.add(Optional.of(new Seen(
          byKey.get(each.claim.key),
          before == null ? null : before.getValue(),
          first,
          all.getCount())));
    }
    return places;
  }

  private CompletableFuture<List<Optional<Seen>>> eachAlone(List<Ask> asks) {
    List<CompletableFuture<Optional<Seen>>> read =
        asks.stream().map(this::alone).toList();
    return CompletableFuture.allOf(read.toArray(CompletableFuture[]::new))
        .thenApply(nothing -> read.stream().map(CompletableFuture::join).toList());
  }
}
