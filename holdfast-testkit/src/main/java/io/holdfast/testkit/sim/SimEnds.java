// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.testkit.sim.Fates.Message;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The releases and withdrawals of one simulated client, as its driver sends them. */
final class SimEnds {
  private final SimWorld world;
  private final SimProcess process;
  private final SimStore store;

  SimEnds(SimStore store, SimProcess process) {
    this.world = process.world;
    this.process = process;
    this.store = store;
  }

  CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    CompletableFuture<Ended> answer = new CompletableFuture<>();
    store.forgetQueued(claim);
    if (world.flaw == Flaw.INTERRUPT_LEAKS && !process.wasHeld(claim.id())) {
      answer.complete(new Ended(Ended.Outcome.NOT_THERE, true, false));
      return answer;
    }
    if (world.flaw == Flaw.RELEASE_CHECKS_THEN_DELETES && process.wasHeld(claim.id())) {
      checkThenDelete(claim, keepFor.toNanos() / 1_000, answer);
      return answer;
    }
    boolean unsure = store.anyUnanswered(claim);
    if (world.setup.finality == Setup.Finality.EPOCH && unsure) {
      store.raiseEpoch();
    }
    long newEpoch = store.epoch();
    world.network.<Reply>send(
        process,
        Message.END,
        arrived -> world.server.end(
            process, claim, keepFor.toNanos() / 1_000, SimStore.micros(lastGiveUp), newEpoch),
        reply -> answer.complete(ended(reply)),
        answer::completeExceptionally);
    if (world.flaw == Flaw.UNKNOWN_END_IS_DONE) {
      process.after(
          world.setup.requestNanos() / 2,
          () -> answer.complete(new Ended(Ended.Outcome.NOT_THERE, true, false)));
    }
    return answer;
  }

  private Ended ended(Reply reply) {
    store.heard(reply.micros());
    Ended.Outcome outcome = switch (reply.status()) {
      case RELEASED -> Ended.Outcome.RELEASED;
      case WITHDRAWN -> Ended.Outcome.WITHDRAWN;
      default -> Ended.Outcome.NOT_THERE;
    };
    return new Ended(outcome, reply.isFinal(), reply.othersWait());
  }

  private void checkThenDelete(Claim claim, long keepForMicros, CompletableFuture<Ended> answer) {
    world.network.<Boolean>send(
        process,
        Message.END,
        arrived -> world.server.isHeldBy(claim),
        held -> {
          if (held) {
            world.network.<Reply>send(
                process,
                Message.END,
                arrived -> world.server.delete(claim, keepForMicros),
                reply -> answer.complete(ended(reply)),
                answer::completeExceptionally);
          } else {
            answer.complete(new Ended(Ended.Outcome.NOT_THERE, true, false));
          }
        },
        answer::completeExceptionally);
  }
}
