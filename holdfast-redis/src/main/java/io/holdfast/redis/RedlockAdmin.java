// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.LockInfo;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.redis.RedlockReply.Has;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import io.holdfast.spi.StoreException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The operator's verbs: all nodes are asked, and a majority must answer. */
final class RedlockAdmin {
  /** Where the listing of a node is, if not at one of its places. */
  private static final String BEGIN = "";

  private static final String END = "-";

  /** It did not answer: what it would have had is at others. */
  private static final String LOST = "x";

  private static final RedisAdmin.Names NOTHING = new RedisAdmin.Names(Set.of(), Optional.empty());

  private final RedlockContext context;
  private final List<RedlockServer> servers;
  private final List<RedisAdmin> walkers;

  RedlockAdmin(RedlockContext context, List<RedlockServer> servers, List<RedisAdmin> walkers) {
    this.context = context;
    this.servers = servers;
    this.walkers = walkers;
  }

  CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    return askAll(
            node -> servers.get(node).inspect(name),
            view -> view.failure() == null,
            RedlockView.failed(RedlockVoters.votedAlready()))
        .thenApply(views -> RedlockView.together(name.name(), views));
  }

  /** Ended is what was ended somewhere. */
  CompletionStage<Boolean> evict(LockKey name, long number) {
    return askAll(
            node -> servers.get(node).evict(name, number),
            reply -> reply.has() != Has.UNKNOWN,
            RedlockReply.unknown(RedlockVoters.votedAlready()))
        .thenApply(
            replies -> replies.stream().anyMatch(reply -> reply != null && reply.has() == Has.YES));
  }

  /**
   * Asks all nodes; waits for all of them, within reason, and fails if less than a majority answers.
   *
   * @param nothing stands for the answer of a node whose name leads to another one's server just now
   */
  private <V> CompletionStage<List<@Nullable V>> askAll(
      IntFunction<CompletionStage<V>> question, Predicate<V> answers, V nothing) {
    int nodes = servers.size();
    RedlockRound<V, List<@Nullable V>> round =
        new RedlockRound<>(context.runtime(), nodes, (votes, over) -> over ? votes : null);
    RedlockVoters voters = new RedlockVoters();
    for (int i = 0; i < nodes; i++) {
      int node = i;
      if (voters.isFirst(servers.get(i).server())) {
        question
            .apply(i)
            .whenComplete((vote, never) -> round.heard(node, vote, answers.test(vote)));
      } else {
        round.heard(node, nothing, false);
      }
    }
    return round.decision().thenApply(votes -> {
      long answered =
          votes.stream().filter(vote -> vote != null && answers.test(vote)).count();
      if (answered < context.rule().majority()) {
        throw new StoreException(
            context.store() + ": no majority of the nodes answers", Reason.UNREACHABLE, true, null);
      }
      return votes;
    });
  }

  /**
   * A part of the names of each node that has answered all the time, and then a look at them. A lock is at a majority of the
   * nodes, and a majority has been walked over in the end: so none is missing.
   */
  CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    List<String> places = page.map(text -> List.of(text.split("\n", -1)))
        .orElseGet(() -> Collections.nCopies(servers.size(), BEGIN));
    return askAll(
            node -> names(walkers.get(node), prefix, places.get(node)),
            Optional::isPresent,
            Optional.empty())
        .thenCompose(this::read);
  }

  private static CompletionStage<Optional<RedisAdmin.Names>> names(
      RedisAdmin walker, String prefix, String place) {
    return switch (place) {
      case LOST -> CompletableFuture.completedFuture(Optional.empty());
      case END -> CompletableFuture.completedFuture(Optional.of(NOTHING));
      default ->
        walker
            .names(prefix, place.equals(BEGIN) ? Optional.empty() : Optional.of(place))
            .handle((names, failure) -> Optional.ofNullable(names));
    };
  }

  private CompletionStage<LockPage> read(List<@Nullable Optional<RedisAdmin.Names>> parts) {
    Set<LockKey> names = new LinkedHashSet<>();
    List<String> places = new ArrayList<>();
    for (Optional<RedisAdmin.Names> part : parts) {
      if (part == null || part.isEmpty()) {
        places.add(LOST);
      } else {
        names.addAll(part.get().names());
        places.add(part.get().next().orElse(END));
      }
    }
    boolean isEnd = places.stream().allMatch(place -> place.equals(LOST) || place.equals(END));
    List<CompletableFuture<Optional<LockInfo>>> infos = new ArrayList<>();
    for (LockKey name : names) {
      infos.add(inspect(name).toCompletableFuture());
    }
    return CompletableFuture.allOf(infos.toArray(CompletableFuture[]::new))
        .thenApply(all -> new LockPage(
            infos.stream().flatMap(info -> info.join().stream()).toList(),
            isEnd ? Optional.empty() : Optional.of(String.join("\n", places))));
  }
}
