// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.OptionsUtil;
import io.holdfast.Holder;
import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** What operators ask. The server does not say when a hold was granted; what is shown is when it was asked for. */
final class EtcdAdmin {
  private static final int PAGE = 500;
  private static final int TOKEN_SHIFT = 8;
  private static final Holder UNREADABLE = new Holder("?", "?", 0, "?", "");

  private static final GetOption ALL = GetOption.builder()
      .isPrefix(true)
      .withSortField(GetOption.SortTarget.CREATE)
      .withSortOrder(GetOption.SortOrder.ASCEND)
      .build();

  /** What comes right behind a key is the key and this. */
  private static final ByteSequence NEXT = ByteSequence.from(new byte[1]);

  private final EtcdContext context;

  /** A lock's first key, which says what is told of it. */
  private record First(LockKey name, KeyValue key, EtcdValue value, long waiters) {}

  EtcdAdmin(EtcdContext context) {
    this.context = context;
  }

  CompletableFuture<Optional<LockInfo>> inspect(LockKey name) {
    return context.calls.get(context.keys.queue(name), EtcdContext.FIRST).thenCompose(seen -> {
      if (seen.getKvs().isEmpty()) {
        return CompletableFuture.completedFuture(Optional.empty());
      }
      KeyValue first = seen.getKvs().get(0);
      EtcdValue value = EtcdValue.read(first.getKey(), first.getValue());
      return left(first.getLease())
          .thenApply(left -> Optional.of(info(name, first, value, seen.getCount() - 1, left)));
    });
  }

  private CompletableFuture<Duration> left(long lease) {
    return context
        .calls
        .timeToLive(lease)
        .thenApply(answer -> Duration.ofSeconds(Math.max(0, answer.getTTL())));
  }

  private static LockInfo info(
      LockKey name, KeyValue first, EtcdValue value, long waiters, Duration left) {
    boolean kept = value.kind() == EtcdValue.Kind.KEPT;
    return new LockInfo(
        name.name(),
        value.holder(),
        kept ? Optional.empty() : Optional.of(value.since()),
        kept ? Duration.ZERO : left,
        first.getCreateRevision() << TOKEN_SHIFT,
        kept ? Optional.of(value.until()) : Optional.<Instant>empty(),
        Waiters.exactly((int) Math.min(Integer.MAX_VALUE, waiters)));
  }

  /**
   * A page ends with a lock, not within one: the last lock of a range that was cut off is asked for by itself. What is not
   * ours is left out: a key that is no lock's, and a lock whose first key holds something else than a claim. A lock whose first
   * key holds what another version wrote is listed as taken.
   */
  CompletableFuture<LockPage> list(String prefix, Optional<String> page) {
    ByteSequence under = context.keys.under(prefix);
    // the keys of a lock end with a tab and the claim: behind them all is the name and what follows the tab
    ByteSequence from = page.map(
            name -> OptionsUtil.prefixEndOf(context.keys.queue(LockKey.of(name))))
        .orElse(under);
    return list(from, OptionsUtil.prefixEndOf(under));
  }

  private CompletableFuture<LockPage> list(ByteSequence from, ByteSequence end) {
    GetOption option = GetOption.builder()
        .withRange(end)
        .withSortField(GetOption.SortTarget.KEY)
        .withSortOrder(GetOption.SortOrder.ASCEND)
        .withLimit(PAGE)
        .build();
    return context.calls.get(from, option).thenCompose(seen -> {
      Map<LockKey, List<KeyValue>> locks = byName(seen);
      if (!seen.isMore()) {
        return infos(locks).thenApply(infos -> new LockPage(infos, Optional.empty()));
      }
      if (locks.isEmpty()) {
        // a page is continued behind a lock, and there is none
        ByteSequence last = seen.getKvs().get(seen.getKvs().size() - 1).getKey();
        return list(last.concat(NEXT), end);
      }
      LockKey last = new ArrayList<>(locks.keySet()).get(locks.size() - 1);
      return context.calls.get(context.keys.queue(last), ALL).thenCompose(whole -> {
        if (whole.getKvs().isEmpty()) {
          locks.remove(last);
        } else {
          locks.put(last, whole.getKvs());
        }
        return infos(locks).thenApply(infos -> new LockPage(infos, Optional.of(last.name())));
      });
    });
  }

  private Map<LockKey, List<KeyValue>> byName(GetResponse seen) {
    Map<LockKey, List<KeyValue>> locks = new LinkedHashMap<>();
    for (KeyValue each : seen.getKvs()) {
      context
          .keys
          .name(each.getKey())
          .ifPresent(
              name -> locks.computeIfAbsent(name, empty -> new ArrayList<>()).add(each));
    }
    return locks;
  }

  private CompletableFuture<List<LockInfo>> infos(Map<LockKey, List<KeyValue>> locks) {
    List<First> firsts = new ArrayList<>();
    List<LockInfo> unreadable = new ArrayList<>();
    locks.forEach((name, keys) -> {
      KeyValue key = Collections.min(keys, Comparator.comparingLong(KeyValue::getCreateRevision));
      Optional<EtcdValue> value = EtcdValue.parse(key.getValue());
      if (value.isPresent()) {
        firsts.add(new First(name, key, value.get(), keys.size() - 1L));
      } else if (EtcdValue.isOurs(key.getValue())) {
        unreadable.add(unreadable(name));
      }
    });
    Map<Long, Duration> left = new ConcurrentHashMap<>();
    List<CompletableFuture<?>> asked = new ArrayList<>();
    firsts.stream()
        .map(first -> first.key.getLease())
        .distinct()
        .forEach(lease -> asked.add(left(lease).thenAccept(time -> left.put(lease, time))));
    return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
        .thenApply(nothing -> Stream.concat(
                firsts.stream()
                    .map(first -> info(
                        first.name,
                        first.key,
                        first.value,
                        first.waiters,
                        left.getOrDefault(first.key.getLease(), Duration.ZERO))),
                unreadable.stream())
            .toList());
  }

  /** Its token is none that a grant has: what cannot be read is not evicted. */
  private static LockInfo unreadable(LockKey name) {
    return new LockInfo(
        name.name(),
        Optional.of(UNREADABLE),
        Optional.empty(),
        Duration.ZERO,
        0,
        Optional.empty(),
        Waiters.atLeast(0));
  }

  /** Deletes the key that was seen, if it is still the first. */
  CompletableFuture<Boolean> evict(LockKey name, long revision) {
    return context.calls.get(context.keys.queue(name), EtcdContext.FIRST_KEY).thenCompose(seen -> {
      if (seen.getKvs().isEmpty() || seen.getKvs().get(0).getCreateRevision() != revision) {
        return CompletableFuture.completedFuture(false);
      }
      ByteSequence key = seen.getKvs().get(0).getKey();
      Cmp same = new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
      return context
          .calls
          .txn(List.of(same), List.of(Op.delete(key, DeleteOption.DEFAULT)), List.of())
          .thenApply(done -> done.isSucceeded());
    });
  }

  /**
   * Lists the claims under this client's leases, those too that are not in use any more and have not ended. A kept lock has
   * a lease of its own and is not among them.
   */
  CompletableFuture<Map<ClaimId, LockKey>> own() {
    // a list knows nothing of what is given up, or put, after it was asked for
    List<EtcdClaim> givenUp = context.givenUp();
    List<CompletableFuture<Map<ClaimId, LockKey>>> parts = new ArrayList<>();
    for (EtcdLease each : context.leases()) {
      each.terms().forEach(term -> parts.add(under(term)));
    }
    return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new)).thenApply(nothing -> {
      Map<ClaimId, LockKey> all = new HashMap<>();
      parts.forEach(part -> all.putAll(part.join()));
      givenUp.stream()
          .filter(each -> !all.containsKey(each.claim.id()))
          .forEach(each -> context.forget(each, false));
      return Map.copyOf(all);
    });
  }

  private CompletableFuture<Map<ClaimId, LockKey>> under(EtcdLease.Term term) {
    return context.calls.keysOf(term.id).thenApply(answer -> {
      if (answer.getTTL() < 0) {
        term.gone();
      }
      Map<ClaimId, LockKey> found = new HashMap<>();
      for (ByteSequence key : answer.getKeys()) {
        context
            .keys
            .place(key)
            .filter(place -> place.claim().client().equals(context.runtime.client()))
            .ifPresent(place -> context
                .seats
                .owner(new EtcdSeats.Seat(place.name(), place.claim().number()), place.claim())
                .ifPresent(owner -> found.put(owner, place.name())));
      }
      return found;
    });
  }
}
