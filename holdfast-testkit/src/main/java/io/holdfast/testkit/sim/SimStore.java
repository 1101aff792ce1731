// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
import io.holdfast.Moment;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.spi.StoreTraits;
import io.holdfast.testkit.history.Kind;
import io.holdfast.testkit.sim.Fates.Message;
import io.holdfast.testkit.sim.Reply.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One process's client of the {@link SimServer}: the store as the engine sees it. */
final class SimStore implements LockStore {
  private static final Kept GONE = new Kept.Gone();
  private static final Kept QUEUED = new Kept.Queued();

  private final SimWorld world;
  private final SimProcess process;
  private final SimClock clock;
  private final Guarantees guarantees;
  private final StoreTraits traits;
  private @Nullable StoreEvents events;
  private String client = "";
  private long epoch;

  /** When the store's clock was last heard of, and what it read. */
  private long heardNanos;

  private long heardMicros;

  /** What is known of claims that wait: from when a pushed grant counts. */
  private final Map<ClaimId, Waiting> waiting = new HashMap<>();

  /** Attempts that were not answered, by claim; for stores that have no time to be sure by. */
  private final Map<ClaimId, Integer> unanswered = new HashMap<>();

  /** The send moment of the last request that was answered "still queued", and the lock's revision then. */
  private record Waiting(Moment sent, long revision) {}

  SimStore(SimWorld world, SimProcess process) {
    this.world = world;
    this.process = process;
    this.clock = process.clock;
    Setup setup = world.setup;
    Set<Guarantee> given =
        Set.of(Guarantee.EXCLUDES_PROCESSES, Guarantee.EXCLUDES_MACHINES, Guarantee.FAIR);
    this.guarantees = new Guarantees(
        "simulated",
        given,
        Duration.ofMillis(10),
        Duration.ofDays(1),
        Duration.ZERO,
        Duration.ofNanos(setup.pollAtMost),
        List.of());
    this.traits = new StoreTraits(
        setup.queues, Duration.ofNanos(setup.waiterLease), Duration.ofNanos(setup.pollAtMost));
  }

  @Override
  public Guarantees guarantees() {
    return guarantees;
  }

  @Override
  public StoreTraits traits() {
    return traits;
  }

  @Override
  public String describe() {
    return "simulated:";
  }

  @Override
  public void start(StoreRuntime runtime, StoreEvents told) {
    this.client = runtime.client();
    this.events = told;
    world.knows(client, process);
  }

  @Override
  public CompletionStage<@Nullable Void> connect() {
    CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();
    world.network.<Long>send(
        process,
        Message.CONNECT,
        arrived -> world.server.micros(),
        micros -> {
          heard(micros);
          ready.complete(null);
        },
        ready::completeExceptionally);
    return ready;
  }

  @Override
  public Instant time() {
    long micros = heardMicros + (clock.nanos() - heardNanos) / 1_000;
    return Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1_000);
  }

  private static long micros(Instant time) {
    return time.equals(Instant.MIN)
        ? Long.MIN_VALUE
        : time.getEpochSecond() * 1_000_000 + time.getNano() / 1_000;
  }

  private void heard(long micros) {
    heardMicros = micros;
    heardNanos = clock.nanos();
  }

  // attempt

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    sendAttempt(claim, mode, micros(giveUpAt), answer);
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
        Instant later = time().plusNanos(world.setup.requestTimeout);
        sendAttempt(claim, mode, micros(later), answer);
      }
    });
  }

  private void sendAttempt(
      Claim claim, Mode mode, long giveUpMicros, CompletableFuture<Answer> answer) {
    Moment sent = clock.now();
    long attemptEpoch = epoch;
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
    heard(reply.micros());
    unanswered.merge(claim.id(), -1, Integer::sum);
    switch (reply.status()) {
      case GRANTED -> {
        if (world.flaw == Flaw.EXPIRE_IN_A_SECOND_REQUEST) {
          setExpiry(claim);
        }
        answer.complete(new Answer.Granted(grant(claim, reply, sent)));
      }
      case QUEUED, BUSY -> {
        boolean queued = reply.status() == Status.QUEUED;
        if (queued) {
          waiting.put(claim.id(), new Waiting(sent, reply.revision()));
        }
        if (world.flaw == Flaw.SUBSCRIBED_AFTER_THE_CHECK && mode == Mode.QUEUE) {
          subscribe(claim);
        }
        answer.complete(new Answer.Busy(
            queued && mode == Mode.QUEUE, Optional.ofNullable(reply.holder()), Optional.empty()));
      }
      case STALE -> {
        if (!process.hasEnded(claim.id()) && micros(time()) <= giveUpMicros) {
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

  private Grant grant(Claim claim, Reply reply, Moment sent) {
    process.granted(claim.id(), reply.revision());
    Moment anchor = world.flaw == Flaw.ANCHOR_AT_REPLY ? clock.now() : sent;
    return new Grant(reply.revision(), anchor, told(claim.lease()), reply.othersWait());
  }

  /** The engine takes its margin off what it is told. */
  private Duration told(Duration lease) {
    return world.flaw == Flaw.NO_MARGIN ? lease.plus(lease.dividedBy(99)).plusMillis(10) : lease;
  }

  // events

  /** The server says that a waiting claim was granted. */
  void pushed(ClaimId id, long revision, long lease) {
    Waiting since = waiting.get(id);
    StoreEvents told = Objects.requireNonNull(events);
    if (since == null) {
      told.lookAgain(id);
    } else if (revision > since.revision() || world.flaw == Flaw.STALE_PUSH_TAKEN) {
      Moment anchor = world.flaw == Flaw.PUSH_ANCHORED_AT_ARRIVAL ? clock.now() : since.sent();
      told.granted(id, new Grant(revision, anchor, told(Duration.ofNanos(lease)), true));
    }
  }

  /** The server says that a lock may be free. */
  void look(ClaimId id) {
    Objects.requireNonNull(events).lookAgain(id);
  }

  void disturbed() {
    world.record(Kind.DISTURBED, process.number, "", "", "", 0, 0, 0);
    Objects.requireNonNull(events).disturbed();
  }

  void restored() {
    Objects.requireNonNull(events).restored();
    Objects.requireNonNull(events).lookAgainAll();
  }

  // keep

  @Override
  public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
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
    Moment sent = clock.now();
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
    heard(reply.micros());
    if (reply.status() == Status.GRANTED) {
      return new Kept.Held(grant(claim, reply, sent));
    }
    if (reply.status() == Status.QUEUED) {
      waiting.put(claim.id(), new Waiting(sent, reply.revision()));
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

  // end

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    CompletableFuture<Ended> answer = new CompletableFuture<>();
    waiting.remove(claim.id());
    if (world.flaw == Flaw.INTERRUPT_LEAKS && !process.wasHeld(claim.id())) {
      answer.complete(new Ended(Ended.Outcome.NOT_THERE, true, false));
      return answer;
    }
    if (world.flaw == Flaw.RELEASE_CHECKS_THEN_DELETES && process.wasHeld(claim.id())) {
      checkThenDelete(claim, keepFor.toNanos() / 1_000, answer);
      return answer;
    }
    boolean unsure = unanswered.getOrDefault(claim.id(), 0) > 0;
    if (world.setup.finality == Setup.Finality.EPOCH && unsure) {
      epoch++;
    }
    long newEpoch = epoch;
    world.network.<Reply>send(
        process,
        Message.END,
        arrived -> world.server.end(
            process, claim, keepFor.toNanos() / 1_000, micros(lastGiveUp), newEpoch),
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
    heard(reply.micros());
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

  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    CompletableFuture<Map<ClaimId, LockKey>> answer = new CompletableFuture<>();
    world.network.<Map<ClaimId, LockKey>>send(
        process,
        Message.OWN,
        arrived -> world.server.own(client),
        answer::complete,
        answer::completeExceptionally);
    return answer;
  }

  // what the simulator's load does not use

  @Override
  public CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    return CompletableFuture.completedFuture(Optional.empty());
  }

  @Override
  public CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return CompletableFuture.completedFuture(new LockPage(new ArrayList<>(), Optional.empty()));
  }

  @Override
  public CompletionStage<Boolean> evict(LockKey name, long revision) {
    return CompletableFuture.completedFuture(false);
  }

  @Override
  public CompletionStage<List<Finding>> diagnose() {
    return CompletableFuture.completedFuture(List.of());
  }

  @Override
  public List<String> schema() {
    return List.of();
  }

  @Override
  public void close() {
    // the process is done with it; what is on its way arrives all the same
  }
}
