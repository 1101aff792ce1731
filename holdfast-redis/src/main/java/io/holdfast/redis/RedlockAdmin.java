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
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
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
            RedlockView::failure,
            RedlockView.failed(RedlockVoters.votedAlready()))
        .thenApply(views -> RedlockView.together(name.name(), views));
  }

  /** Ended is what was ended somewhere. */
  CompletionStage<Boolean> evict(LockKey name, long number) {
    return askAll(
            node -> servers.get(node).evict(name, number),
            reply -> reply.has() != Has.UNKNOWN,
            RedlockReply::failure,
            RedlockReply.unknown(RedlockVoters.votedAlready()))
        .thenApply(
            replies -> replies.stream().anyMatch(reply -> reply != null && reply.has() == Has.YES));
  }

  /**
   * Asks all nodes; waits for all of them, within reason, and fails if less than a majority answers.
   *
   * @param failed returns why a node did not answer; null if that is not known
   * @param nothing stands for the answer of a node whose name leads to another one's server just now
   */
  private <V> CompletionStage<List<@Nullable V>> askAll(
      IntFunction<CompletionStage<V>> question,
      Predicate<V> answers,
      Function<V, @Nullable Throwable> failed,
      V nothing) {
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
        throw tooFew(answered, failures(votes, failed));
      }
      return votes;
    });
  }

  private static <V> List<Throwable> failures(
      List<@Nullable V> votes, Function<V, @Nullable Throwable> failed) {
    List<Throwable> failures = new ArrayList<>();
    for (V vote : votes) {
      Throwable failure = vote == null ? null : failed.apply(vote);
      if (failure != null) {
        failures.add(failure);
      }
    }
    return failures;
  }

  /**
   * A node that has another program's key, or another version's record, has answered: that is told if no other answer is
   * missing, and of a record first, which is a lock's.
   */
  private StoreException tooFew(long answered, List<Throwable> failures) {
    List<Throwable> unreadable = Stream.concat(
            failures.stream().filter(RedisErrors::isOfAnotherFormat),
            failures.stream().filter(RedisErrors::isForeign))
        .toList();
    if (answered + unreadable.size() >= context.rule().majority()) {
      Throwable first = unreadable.get(0);
      return new StoreException(
          context.store() + ": " + first.getMessage(), Reason.DAMAGED, true, first);
    }
    Throwable first =
        failures.stream().filter(each -> !unreadable.contains(each)).findFirst().orElse(null);
    return new StoreException(
        RedisErrors.because(context.store() + ": no majority of the nodes answers", first),
        Reason.UNREACHABLE,
        true,
        first);
  }

  /**
   * A part of a node's listing.
   *
   * @param names null if it did not answer
   * @param failure why not
   */
  private record Part(
      RedisAdmin.@Nullable Names names, @Nullable Throwable failure) {}

  /**
   * A part of the names of each node that has answered all the time, and then a look at them. A lock is at a majority of the
   * nodes, and a majority has been walked over in the end: so none is missing.
   */
  CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    List<String> places = page.map(text -> List.of(text.split("\n", -1)))
        .orElseGet(() -> Collections.nCopies(servers.size(), BEGIN));
    return askAll(
            node -> names(walkers.get(node), prefix, places.get(node)),
            part -> part.names != null,
            Part::failure,
            new Part(null, RedlockVoters.votedAlready()))
        .thenCompose(this::read);
  }

  private static CompletionStage<Part> names(RedisAdmin walker, String prefix, String place) {
    return switch (place) {
      case LOST -> CompletableFuture.completedFuture(new Part(null, null));
      case END -> CompletableFuture.completedFuture(new Part(NOTHING, null));
      default ->
        walker
            .names(prefix, place.equals(BEGIN) ? Optional.empty() : Optional.of(place))
            .handle((names, failure) ->
                new Part(names, failure == null ? null : RedlockServer.unwrap(failure)));
    };
  }

  private CompletionStage<LockPage> read(List<@Nullable Part> parts) {
    Set<LockKey> names = new LinkedHashSet<>();
    List<String> places = new ArrayList<>();
    for (Part part : parts) {
      RedisAdmin.Names found = part == null ? null : part.names;
      if (found == null) {
        places.add(LOST);
      } else {
        names.addAll(found.names());
        places.add(found.next().orElse(END));
      }
    }
    boolean isEnd = places.stream().allMatch(place -> place.equals(LOST) || place.equals(END));
    List<CompletableFuture<Optional<LockInfo>>> infos = new ArrayList<>();
    for (LockKey name : names) {
      infos.add(RedisAdmin.listed(name, inspect(name)).toCompletableFuture());
    }
    return CompletableFuture.allOf(infos.toArray(CompletableFuture[]::new))
        .thenApply(all -> new LockPage(
            infos.stream().flatMap(info -> info.join().stream()).toList(),
            isEnd ? Optional.empty() : Optional.of(String.join("\n", places))));
  }
}
