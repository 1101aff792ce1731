// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.Moment;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.sim.Fates.Message;
import io.holdfast.testkit.sim.Reply.Status;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The attempts of one simulated client, as its driver sends them. */
final class SimAttempts {
  /** Attempts that were not answered, by claim; for stores that have no time to be sure by. */
  private final Map<ClaimId, Integer> unanswered = new HashMap<>();

  private final SimWorld world;
  private final SimProcess process;
  private final SimStore store;

  SimAttempts(SimStore store, SimProcess process) {
    this.world = process.world;
    this.process = process;
    this.store = store;
  }

  CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    sendAttempt(claim, mode, SimStore.micros(giveUpAt), answer);
    if (world.flaw == Flaw.DRIVER_REPLAYS) {
      replayLater(claim, mode, answer);
    }
    if (world.flaw == Flaw.UNREACHABLE_IS_BUSY) {
      process.after(
          world.setup.requestTimeout / 2,
          () -> answer.complete(new Answer.Busy(false, Optional.empty(), Optional.empty())));
    }
    return answer;
  }

  private void replayLater(Claim claim, Mode mode, CompletableFuture<Answer> answer) {
    process.after(world.setup.requestTimeout * 2, () -> {
      if (!answer.isDone()) {
        Instant later = store.time().plusNanos(world.setup.requestTimeout);
        sendAttempt(claim, mode, SimStore.micros(later), answer);
      }
    });
  }

  private void sendAttempt(
      Claim claim, Mode mode, long giveUpMicros, CompletableFuture<Answer> answer) {
    Moment sent = process.clock.now();
    long attemptEpoch = store.epoch();
    long clientMicros = sent.wallMillis() * 1_000;
    unanswered.merge(claim.id(), 1, Integer::sum);
    world.network.<Reply>send(
        process,
        Message.ATTEMPT,
        arrived -> world.server.attempt(
            process, claim, mode, giveUpMicros, attemptEpoch, clientMicros, arrived),
        reply -> attempted(claim, mode, giveUpMicros, sent, reply, answer),
        answer::completeExceptionally);
  }

  private void attempted(
      Claim claim,
      Mode mode,
      long giveUpMicros,
      Moment sent,
      Reply reply,
      CompletableFuture<Answer> answer) {
    store.heard(reply.micros());
    unanswered.merge(claim.id(), -1, Integer::sum);
    switch (reply.status()) {
      case GRANTED -> {
        if (world.flaw == Flaw.EXPIRE_IN_A_SECOND_REQUEST) {
          setExpiry(claim);
        }
        answer.complete(new Answer.Granted(store.grant(claim, reply, sent)));
      }
      case QUEUED, BUSY -> {
        boolean queued = reply.status() == Status.QUEUED;
        if (queued) {
          store.stillQueued(claim, reply, sent);
        }
        if (world.flaw == Flaw.SUBSCRIBED_AFTER_THE_CHECK && mode == Mode.QUEUE) {
          subscribe(claim);
        }
        answer.complete(new Answer.Busy(
            queued && mode == Mode.QUEUE, Optional.ofNullable(reply.holder()), Optional.empty()));
      }
      case STALE -> {
        if (!process.hasEnded(claim.id()) && SimStore.micros(store.time()) <= giveUpMicros) {
          // not applied, for another claim's sake alone
          sendAttempt(claim, mode, giveUpMicros, answer);
        } else {
          answer.complete(new Answer.Late());
        }
      }
      default -> answer.complete(new Answer.Late());
    }
  }

  private void setExpiry(Claim claim) {
    world.network.<Boolean>send(
        process,
        Message.KEEP,
        arrived -> {
          world.server.expireLater(claim);
          return true;
        },
        done -> {},
        failure -> {});
  }

  private void subscribe(Claim claim) {
    world.network.<Boolean>send(
        process,
        Message.ATTEMPT,
        arrived -> {
          world.server.subscribe(process, claim);
          return true;
        },
        done -> {},
        failure -> {});
  }

  /** Whether an attempt of a claim may have been applied without our knowing. */
  boolean anyUnanswered(ClaimId id) {
    return unanswered.getOrDefault(id, 0) > 0;
  }
}
