// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Moment;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.StoreRuntime;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Keep, for many claims at once.
 *
 * <pre>
 *   not known to wait -> keep-held.lua -- held --------> Held
 *                                      -- not clear --> keep.lua -> Held, Queued, Gone, Unknown
 *   known to wait     ------------------------------------^
 * </pre>
 *
 * <p>Nearly all that is ever kept is held: that is asked, and answered, in a few bytes. Where replicas have to confirm,
 * {@code keep.lua} is asked at once, so that there is one answer to be confirmed.
 *
 * <p>What a slow server has not answered does not keep back what the others have: {@link KeptSoFar}.
 */
final class RedisRenewals {
  /** A script keeps everybody else waiting: so many claims are kept in one. */
  private static final int BATCH = 100;

  private static final int KEYS = 3;
  private static final int NUMBER_BYTES = 8;

  /** Where the first revision is in the answer of {@code keep-held.lua}. */
  private static final int REVISIONS = 9;

  private final StoreRuntime runtime;
  private final RedisRoute route;
  private final RedisKeys keys;
  private final RedisWaits waits;
  private final byte[] retention;
  private final boolean confirms;
  private final byte[] client;

  RedisRenewals(
      StoreRuntime runtime,
      RedisRoute route,
      RedisKeys keys,
      RedisWaits waits,
      RedisOptions options) {
    this.runtime = runtime;
    this.route = route;
    this.keys = keys;
    this.waits = waits;
    this.retention = RedisAnswer.argument(options.retentionMicros());
    this.confirms = options.replicas().asks();
    this.client = RedisAnswer.argument(runtime.client() + "-");
  }

  /** Claims of one batch that failed, or is late, are missing in the answer, which means unknown. */
  CompletionStage<Map<ClaimId, Kept>> keep(List<Claim> claims) {
    KeptSoFar kept = new KeptSoFar(claims.size());
    List<CompletableFuture<?>> batches = new ArrayList<>();
    for (List<Claim> group : route.together(claims)) {
      List<Claim> others = new ArrayList<>();
      List<Claim> held = new ArrayList<>(group.size());
      for (Claim claim : group) {
        (isHeld(claim) ? held : others).add(claim);
      }
      for (List<Claim> batch : batches(held)) {
        batches.add(keepHeld(batch, kept).toCompletableFuture());
      }
      for (List<Claim> batch : batches(others)) {
        batches.add(keepAny(batch, kept).toCompletableFuture());
      }
    }
    return kept.when(batches, runtime, patience(claims));
  }

  private boolean isHeld(Claim claim) {
    return !confirms && !waits.isWaiting(claim) && claim.id().client().equals(runtime.client());
  }

  /** How long the engine waits for this answer. */
  private Duration patience(List<Claim> claims) {
    long nanos = runtime.requestTimeout().toNanos();
    for (Claim claim : claims) {
      // a Duration divides by way of decimals, which is too much for each of so many
      nanos = Math.min(nanos, claim.lease().toNanos() / 3);
    }
    return Duration.ofNanos(nanos);
  }

  private static List<List<Claim>> batches(List<Claim> claims) {
    List<List<Claim>> all = new ArrayList<>();
    for (int from = 0; from < claims.size(); from += BATCH) {
      all.add(claims.subList(from, Math.min(from + BATCH, claims.size())));
    }
    return all;
  }

  // what is held

  private CompletionStage<?> keepHeld(List<Claim> batch, KeptSoFar kept) {
    byte[][] of = new byte[batch.size()][];
    byte[] numbers = new byte[batch.size() * 2 * NUMBER_BYTES];
    ByteBuffer writer = ByteBuffer.wrap(numbers).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < of.length; i++) {
      Claim claim = batch.get(i);
      of[i] = keys.record(claim.name());
      writer.putLong(claim.id().number()).putLong(RedisClock.micros(claim.lease()));
    }
    Moment sent = runtime.ticker().now();
    return route
        .run(RedisScript.KEEP_HELD, of, client, numbers)
        .thenCompose(answer -> keptHeld(batch, sent, answer, kept));
  }

  private CompletionStage<?> keptHeld(
      List<Claim> batch, Moment sent, List<Object> answer, KeptSoFar kept) {
    List<Claim> others = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      Claim claim = batch.get(i);
      long revision = RedisAnswer.packedNumber(answer, REVISIONS + i * NUMBER_BYTES);
      if (revision != 0) {
        kept.put(
            claim.id(),
            new Kept.Held(new Grant(Math.abs(revision), sent, claim.lease(), revision < 0)));
      } else {
        others.add(claim);
      }
    }
    kept.partIsAnswered();
    return others.isEmpty() ? CompletableFuture.completedFuture(kept) : keepAny(others, kept);
  }

  // what is anything

  private CompletionStage<?> keepAny(List<Claim> batch, KeptSoFar kept) {
    byte[][] of = new byte[batch.size() * KEYS][];
    byte[][] arguments = new byte[batch.size() * 2 + 3][];
    arguments[0] = RedisWaits.LEASE_ARGUMENT;
    arguments[1] = retention;
    arguments[2] = keys.channel();
    for (int i = 0; i < batch.size(); i++) {
      Claim claim = batch.get(i);
      System.arraycopy(keys.of(claim.name()), 0, of, i * KEYS, KEYS);
      arguments[i * 2 + 3] = RedisAnswer.argument(claim.id().toString());
      arguments[i * 2 + 4] = RedisAnswer.argument(RedisClock.micros(claim.lease()));
    }
    Moment sent = runtime.ticker().now();
    return route.run(RedisScript.KEEP, of, arguments).thenAccept(answer -> {
      for (int i = 0; i < batch.size(); i++) {
        Claim claim = batch.get(i);
        kept.put(claim.id(), kept(claim, sent, RedisAnswer.text(answer, i + 1)));
      }
      kept.partIsAnswered();
    });
  }

  private Kept kept(Claim claim, Moment sent, String answer) {
    String[] parts = answer.split(" ", -1);
    switch (parts[0]) {
      case "H" -> {
        waits.over(claim);
        long revision = Long.parseLong(parts[1]);
        return new Kept.Held(new Grant(revision, sent, claim.lease(), parts[2].equals("1")));
      }
      case "Q" -> {
        waits.queued(claim, sent, Long.parseLong(parts[3]));
        waits.lookWhenFree(claim, parts[2].equals("1"), Long.parseLong(parts[1]));
        return new Kept.Queued();
      }
      case "N" -> {
        return new Kept.Gone();
      }
      default -> {
        waits.unknown(claim);
        return new Kept.Unknown();
      }
    }
  }
}
