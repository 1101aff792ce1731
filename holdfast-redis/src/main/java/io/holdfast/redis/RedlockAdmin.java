// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.LockInfo;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.redis.RedlockReply.Has;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import io.holdfast.spi.StoreException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The operator's verbs: all nodes are asked, and a majority must answer. */
final class RedlockAdmin {
  private static final Comparator<LockKey> BY_BYTES =
      Comparator.comparing(LockKey::bytes, Arrays::compareUnsigned);

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

  /** The names of all nodes that answer, in order, and then a look at each of them. */
  CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return askAll(
            node -> names(walkers.get(node), prefix, page), Optional::isPresent, Optional.empty())
        .thenCompose(all -> {
          List<RedisAdmin.Names> found = new ArrayList<>();
          for (Optional<RedisAdmin.Names> each : all) {
            if (each != null) {
              each.ifPresent(found::add);
            }
          }
          return read(found);
        });
  }

  private static CompletionStage<Optional<RedisAdmin.Names>> names(
      RedisAdmin walker, String prefix, Optional<String> page) {
    return walker.names(prefix, page).handle((names, failure) -> Optional.ofNullable(names));
  }

  private CompletionStage<LockPage> read(List<RedisAdmin.Names> found) {
    TreeSet<LockKey> names = new TreeSet<>(BY_BYTES);
    found.forEach(each -> names.addAll(each.names()));
    // behind the last name of a node that has more, names of its may be missing
    Optional<LockKey> end = found.stream()
        .filter(RedisAdmin.Names::more)
        .map(each -> each.names().last())
        .min(BY_BYTES);
    List<CompletableFuture<Optional<LockInfo>>> infos = new ArrayList<>();
    for (LockKey name : end.isPresent() ? names.headSet(end.get(), true) : names) {
      infos.add(inspect(name).toCompletableFuture());
    }
    return CompletableFuture.allOf(infos.toArray(CompletableFuture[]::new))
        .thenApply(all -> new LockPage(
            infos.stream().flatMap(info -> info.join().stream()).toList(), end.map(LockKey::name)));
  }
}
