// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps claims: renews each session that they are under once, however many there are, and reads their keys, because an
 * operator may have deleted one whose session lives.
 */
final class ConsulKeeper {
  /** Two reads for each. */
  private static final int BATCH = ConsulTxn.MOST / 2;

  private final ConsulContext context;

  ConsulKeeper(ConsulContext context) {
    this.context = context;
  }

  /** How a renewal ended. */
  private enum Renewed {
    YES,
    GONE,
    UNKNOWN
  }

  private record Held(ConsulClaim claim, ConsulClaim.Tenure tenure) {}

  CompletableFuture<Map<ClaimId, Kept>> keep(List<Claim> claims) {
    Map<ClaimId, Kept> kept = new ConcurrentHashMap<>();
    Map<ConsulSession.Term, CompletableFuture<Renewed>> renewals = new HashMap<>();
    List<Held> held = new ArrayList<>();
    for (Claim each : claims) {
      ConsulClaim known = context.known(each.id()).orElse(null);
      ConsulClaim.Tenure tenure = known == null ? null : known.tenure();
      if (known == null || tenure == null) {
        kept.put(each.id(), new Kept.Gone());
      } else {
        held.add(new Held(known, tenure));
        renewals.computeIfAbsent(tenure.term(), this::renew);
      }
    }
    List<CompletableFuture<?>> batches = new ArrayList<>();
    for (int from = 0; from < held.size(); from += BATCH) {
      batches.add(keep(held.subList(from, Math.min(from + BATCH, held.size())), renewals, kept));
    }
    return CompletableFuture.allOf(batches.toArray(CompletableFuture[]::new))
        .thenApply(nothing -> Map.copyOf(kept));
  }

  private CompletableFuture<Renewed> renew(ConsulSession.Term term) {
    return term.renew()
        .thenApply(renewed -> renewed ? Renewed.YES : Renewed.GONE)
        .exceptionally(failure -> Renewed.UNKNOWN);
  }

  private CompletableFuture<?> keep(
      List<Held> batch,
      Map<ConsulSession.Term, CompletableFuture<Renewed>> renewals,
      Map<ClaimId, Kept> kept) {
    ConsulTxn looks = new ConsulTxn();
    batch.forEach(each -> looks.get(each.claim.key).get(each.claim.wanted));
    return context
        .calls
        .txn(looks)
        .thenCompose(seen -> {
          List<CompletableFuture<?>> all = new ArrayList<>();
          for (Held each : batch) {
            CompletableFuture<Renewed> renewal = renewals.getOrDefault(
                each.tenure.term(), CompletableFuture.completedFuture(Renewed.UNKNOWN));
            all.add(renewal.thenAccept(
                renewed -> kept.put(each.claim.claim.id(), judge(each, seen, renewed))));
          }
          return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
        })
        // a missing answer is an unknown one
        .exceptionally(failure -> null);
  }

  private static Kept judge(Held held, ConsulTxn.Answer seen, Renewed renewed) {
    Optional<ConsulEntry> entry = seen.entry(held.claim.key);
    ConsulSession.Term term = held.tenure.term();
    if (entry.isEmpty()) {
      // the token may not read it, and that is no reason to think that it is gone
      return renewed == Renewed.GONE ? new Kept.Gone() : new Kept.Unknown();
    }
    // another index is another grant: a late copy of an attempt has locked what was taken by force, and others had it meanwhile
    boolean isOurs = entry.get().index() == held.tenure.revision()
        && entry.get().session().equals(term.id)
        && ConsulValue.read(entry.get()).claim().equals(held.claim.claim.id());
    if (!isOurs) {
      return new Kept.Gone();
    }
    return switch (renewed) {
      case YES ->
        new Kept.Held(new Grant(
            held.tenure.revision(),
            term.anchor(),
            held.claim.claim.lease(),
            seen.isThere(held.claim.wanted)));
      case GONE -> new Kept.Gone();
      case UNKNOWN -> new Kept.Unknown();
    };
  }
}
