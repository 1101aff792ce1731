// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.redis.RedisReplicas.Confirmed;
import io.holdfast.redis.RedisReplicas.Rule;
import io.holdfast.spi.Claim;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The same servers, but a grant or a renewal counts only once replicas have confirmed it.
 *
 * <pre>
 *   attempt, granted  -> confirmed: granted;  not: failed as not replicated, and may have been applied
 *   keep, held        -> confirmed: held;     not: unknown, so that no hold trusts a lease that only the primary knows
 *   keep, queued; end -> as they are: what a failover forgets of them costs time, and never exclusion
 * </pre>
 *
 * <p>What was not confirmed is ended by the engine, as whatever may have been applied. An attempt that ended it itself could
 * end what a repetition of it, which the engine has sent meanwhile, was granted and has confirmed.
 *
 * <p>The release of another client may have written a grant, on a connection that we cannot WAIT on: a waiter that hears
 * of its grant asks once more, which writes the lease again.
 */
final class ReplicatedRoute implements RedisRoute {
  private static final byte[] UNKNOWN = {'U'};

  private final String store;
  private final RedisRoute route;
  private final Rule rule;

  ReplicatedRoute(String store, RedisRoute route, Rule rule) {
    this.store = store;
    this.route = route;
    this.rule = rule;
  }

  @Override
  public CompletionStage<List<Object>> run(RedisScript script, byte[][] of, byte[]... arguments) {
    if (script == RedisScript.ATTEMPT) {
      return runConfirmed(ReplicatedRoute::isGranted, script, of, arguments)
          .thenCompose(confirmed -> isGranted(confirmed.answer()) && isShort(confirmed)
              ? CompletableFuture.failedStage(notReplicated(confirmed.replicas()))
              : CompletableFuture.completedStage(confirmed.answer()));
    }
    if (script == RedisScript.KEEP) {
      return runConfirmed(ReplicatedRoute::holdsAny, script, of, arguments)
          .thenApply(
              confirmed -> isShort(confirmed) ? doubted(confirmed.answer()) : confirmed.answer());
    }
    return route.run(script, of, arguments);
  }

  private boolean isShort(Confirmed confirmed) {
    return confirmed.replicas() < rule.wanted();
  }

  private static boolean isGranted(List<Object> answer) {
    return RedisAnswer.packed(answer) == RedisLocks.GRANTED;
  }

  private static boolean isHeld(List<Object> answer, int part) {
    return RedisAnswer.bytes(answer, part)[0] == 'H';
  }

  private static boolean holdsAny(List<Object> answer) {
    for (int i = 1; i < answer.size(); i++) {
      if (isHeld(answer, i)) {
        return true;
      }
    }
    return false;
  }

  private static List<Object> doubted(List<Object> answer) {
    List<Object> doubted = new ArrayList<>(answer);
    for (int i = 1; i < answer.size(); i++) {
      if (isHeld(answer, i)) {
        doubted.set(i, UNKNOWN);
      }
    }
    return doubted;
  }

  private StoreException notReplicated(long replicas) {
    return new StoreException(
        store + ": " + replicas + " of the " + rule.wanted()
            + " replicas that holdfast.replicas asks for confirmed the grant within "
            + DurationText.exact(rule.limit())
            + "; it is given back; see to the replicas (INFO replication), or ask for fewer or for longer"
            + " (holdfast.replicas-timeout)",
        Reason.NOT_REPLICATED,
        false,
        null);
  }

  @Override
  public CompletionStage<Confirmed> runConfirmed(
      Predicate<List<Object>> counts, RedisScript script, byte[][] of, byte[]... arguments) {
    return route.runConfirmed(counts, script, of, arguments);
  }

  @Override
  public CompletionStage<@Nullable Void> connect() {
    return route.connect();
  }

  @Override
  public @Nullable String tag(byte[] key) {
    return route.tag(key);
  }

  @Override
  public Collection<List<Claim>> together(List<Claim> claims) {
    return route.together(claims);
  }

  @Override
  public List<RedisNode> nodes() {
    return route.nodes();
  }

  @Override
  public Instant time() {
    return route.time();
  }

  @Override
  public void close() {
    route.close();
  }
}
