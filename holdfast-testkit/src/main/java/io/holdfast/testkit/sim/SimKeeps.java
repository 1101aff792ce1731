// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.Moment;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.testkit.history.Kind;
import io.holdfast.testkit.sim.Fates.Message;
import io.holdfast.testkit.sim.Reply.Status;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The renewals and refreshes of one simulated client, as its driver sends them. */
final class SimKeeps {
  private static final Kept GONE = new Kept.Gone();
  private static final Kept QUEUED = new Kept.Queued();

  private final SimWorld world;
  private final SimProcess process;
  private final SimStore store;

  SimKeeps(SimStore store, SimProcess process) {
    this.world = process.world;
    this.process = process;
    this.store = store;
  }

  CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
    if (world.flaw == Flaw.RENEWAL_SENT_TWICE) {
      CompletableFuture<Map<ClaimId, Kept>> unused = sendKeep(List.copyOf(claims));
    }
    if (world.flaw == Flaw.RENEWAL_AFTER_RELEASE) {
      process.after(world.setup.lease / 3, () -> {
        CompletableFuture<Map<ClaimId, Kept>> unused = sendKeep(List.copyOf(claims));
      });
    }
    return sendKeep(List.copyOf(claims));
  }

  private CompletableFuture<Map<ClaimId, Kept>> sendKeep(List<Claim> claims) {
    CompletableFuture<Map<ClaimId, Kept>> answer = new CompletableFuture<>();
    Moment sent = process.clock.now();
    record(Kind.KEEP_SENT, claims);
    world.network.<Map<ClaimId, Reply>>send(
        process,
        Message.KEEP,
        arrived -> world.server.keep(process, claims),
        replies -> {
          record(Kind.KEEP_ANSWERED, claims);
          Map<ClaimId, Kept> kept = new HashMap<>();
          for (Claim claim : claims) {
            kept.put(
                claim.id(), kept(claim, Objects.requireNonNull(replies.get(claim.id())), sent));
          }
          answer.complete(kept);
        },
        failure -> {
          record(Kind.KEEP_ANSWERED, claims);
          answer.completeExceptionally(failure);
        });
    if (world.flaw == Flaw.UNKNOWN_RENEWAL_IS_YES) {
      process.after(world.setup.requestNanos() / 2, () -> {
        Map<ClaimId, Kept> kept = new HashMap<>();
        for (Claim claim : claims) {
          long revision = process.revisionOf(claim.id());
          if (revision > 0) {
            kept.put(claim.id(), new Kept.Held(new Grant(revision, sent, claim.lease(), true)));
          }
        }
        answer.complete(kept);
      });
    }
    return answer;
  }

  private Kept kept(Claim claim, Reply reply, Moment sent) {
    store.heard(reply.micros());
    if (reply.status() == Status.GRANTED) {
      return new Kept.Held(store.grant(claim, reply, sent));
    }
    if (reply.status() == Status.QUEUED) {
      store.stillQueued(claim, reply, sent);
      return QUEUED;
    }
    return GONE;
  }

  private void record(Kind kind, List<Claim> claims) {
    for (Claim claim : claims) {
      if (process.isHeldOrOver(claim.id())) {
        long most = Math.min(world.setup.requestTimeout, claim.lease().toNanos() / 3);
        world.record(
            kind, process.number, claim.name().name(), world.nameOf(claim.id()), "", 0, most, 0);
      }
    }
  }
}
