// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.spi.Ended;
import io.holdfast.zookeeper.OwnClaim.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The end of a claim, in its turn: its node goes, and any other that a lost answer may have left. */
final class Ending {
  private final ZooKeeperContext context;
  private final OwnClaim own;
  private final Duration keepFor;
  private final Link link;

  Ending(ZooKeeperContext context, OwnClaim own, Duration keepFor, Link link) {
    this.context = context;
    this.own = own;
    this.keepFor = keepFor;
    this.link = link;
  }

  CompletionStage<Ended> begin() {
    Node node = own.node();
    if (node == null) {
      return sweep(Ended.Outcome.NOT_THERE);
    }
    boolean held = own.isGranted();
    if (held && !keepFor.isZero()) {
      return context.kept().keep(own, node, link, keepFor).thenCompose(this::deleted);
    }
    return link.delete(node.path(), -1).thenCompose(this::deleted);
  }

  private CompletionStage<Ended> deleted(Reply<?> reply) {
    if (!reply.isOk() && !reply.isAbsent()) {
      return CompletableFuture.failedFuture(ZooKeeperErrors.of("could not end the claim", reply));
    }
    Ended.Outcome outcome = reply.isAbsent()
        ? Ended.Outcome.NOT_THERE
        : own.isGranted() ? Ended.Outcome.RELEASED : Ended.Outcome.WITHDRAWN;
    own.gone();
    return own.mayHaveMore() ? sweep(outcome) : ended(context, own, outcome);
  }

  /** Deletes what there is of the claim though this side does not know it. */
  private CompletionStage<Ended> sweep(Ended.Outcome known) {
    String folder = context.paths().folder(own.claim.name());
    return link.queueAgreed(folder).thenCompose(list -> {
      if (list.isAbsent()) {
        return ended(context, own, known);
      }
      if (!list.isOk()) {
        return CompletableFuture.failedFuture(
            ZooKeeperErrors.of("could not look for the claim", list));
      }
      List<CompletableFuture<Reply<Boolean>>> deletes = new ArrayList<>();
      for (LockNode each : LockNode.queue(list.get().names())) {
        if (each.claim().equals(own.claim.id())) {
          deletes.add(link.delete(folder + "/" + each.name(), -1));
        }
      }
      return CompletableFuture.allOf(deletes.toArray(CompletableFuture[]::new))
          .thenCompose(nothing -> {
            for (CompletableFuture<Reply<Boolean>> each : deletes) {
              Reply<Boolean> reply = each.join();
              if (!reply.isOk() && !reply.isAbsent()) {
                return CompletableFuture.failedFuture(
                    ZooKeeperErrors.of("could not end the claim", reply));
              }
            }
            boolean found = !deletes.isEmpty() && known == Ended.Outcome.NOT_THERE;
            return ended(context, own, found ? Ended.Outcome.WITHDRAWN : known);
          });
    });
  }

  /** Says what became of the claim; for good, if no node of it can come any more. */
  static CompletionStage<Ended> ended(
      ZooKeeperContext context, OwnClaim own, Ended.Outcome outcome) {
    boolean isFinal = !own.mayStillCome(context.runtime().ticker());
    return CompletableFuture.completedFuture(new Ended(outcome, isFinal, own.othersWait()));
  }
}
