// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Ends a closed client's sessions, so that none is left to end by itself: those alone under which no claim is held, kept
 * back or unknown. The end of a session starts the lock-delay for each key that it has locked; so what the client has left
 * word with is deleted first, also a word that is under way when the client is closed, and a session that may have a
 * lock is left alone: it ends by its TTL, as after a crash.
 *
 * <p>A lock that is kept has a session of its own, which is not one of these.
 */
final class ConsulFarewell {
  /** How long it waits for words that are under way; one that is answered later goes with its session. */
  private static final Duration WORDS = Duration.ofMillis(500);

  private final ConsulContext context;

  ConsulFarewell(ConsulContext context) {
    this.context = context;
  }

  /** Begins nothing if there is nobody to ask; otherwise completes when all was answered, well or not. */
  CompletableFuture<?> say() {
    Set<String> idle = new HashSet<>(context.idleTerms());
    if (idle.isEmpty() || context.calls.isDisturbed()) {
      return CompletableFuture.completedFuture(true);
    }
    if (!context.hasLeftWord()) {
      return end(idle);
    }
    return context
        .wordsAnswered()
        .orTimeout(WORDS.toMillis(), TimeUnit.MILLISECONDS)
        .handle((done, failure) -> done)
        .thenCompose(done -> takeWordsBack(idle))
        .handle((done, failure) -> done)
        .thenCompose(done -> end(idle));
  }

  private CompletableFuture<?> end(Set<String> sessions) {
    return all(sessions.stream().map(context.calls::endSession).toList());
  }

  private CompletableFuture<?> takeWordsBack(Set<String> sessions) {
    return context.calls.list(context.keys.words()).thenCompose(words -> {
      List<CompletableFuture<?>> deletions = new ArrayList<>();
      for (ConsulEntry each : words) {
        if (sessions.contains(each.session())) {
          deletions.add(context.calls.txn(
              new ConsulTxn().isSame(each.key(), each.index()).delete(each.key())));
        }
      }
      return all(deletions);
    });
  }

  private static CompletableFuture<?> all(List<? extends CompletableFuture<?>> stages) {
    return CompletableFuture.allOf(stages.toArray(CompletableFuture[]::new));
  }
}
