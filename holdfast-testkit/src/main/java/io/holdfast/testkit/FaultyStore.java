// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
import io.holdfast.LossReason;
import io.holdfast.Waiters;
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
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.spi.StoreTraits;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Another store, with a bad network in front of it that {@link #faults()} scripts. Without faults it does nothing but
 * pass on.
 *
 * <pre>{@code
 * FaultyStore store = new FaultyStore(new MemoryStore());
 * Holdfast holdfast = Holdfast.builder().store(store).build();
 * store.faults().on(Verb.END).fail();
 * }</pre>
 *
 * <p>Requests and replies that are delayed run on the client's timer; those that were held back on the thread that lets
 * them through.
 */
public final class FaultyStore implements LockStore {
  private final LockStore store;
  private final Faults faults = new Faults();

  /** What is known of this client's claims; revision 0 until one is granted. */
  private final Map<ClaimId, Held> claims = new ConcurrentHashMap<>();

  private @Nullable StoreRuntime runtime;
  private @Nullable StoreEvents events;

  /**
   * Wraps a store.
   *
   * @param store a store that was not started yet; closed with this one
   */
  public FaultyStore(LockStore store) {
    this.store = Objects.requireNonNull(store, "store");
    faults.useActions(this::loseHold, this::evictSilently);
  }

  /**
   * Returns the script of faults.
   *
   * @return the faults of this store
   */
  public Faults faults() {
    return faults;
  }

  @Override
  public Guarantees guarantees() {
    return store.guarantees();
  }

  @Override
  public StoreTraits traits() {
    return store.traits();
  }

  @Override
  public String describe() {
    return store.describe();
  }

  @Override
  public void start(StoreRuntime runtime, StoreEvents events) {
    this.runtime = runtime;
    this.events = events;
    store.start(runtime, new Listening(events));
  }

  @Override
  public CompletionStage<@Nullable Void> connect() {
    return this.<@Nullable Void>send(Verb.CONNECT, store::connect);
  }

  @Override
  public Instant time() {
    return store.time();
  }

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    claims.putIfAbsent(claim.id(), new Held(claim.name(), 0));
    return send(
        Verb.ATTEMPT,
        () -> store.attempt(claim, mode, giveUpAt).thenApply(answer -> {
          if (answer instanceof Answer.Granted granted) {
            noteGrant(claim.id(), granted.grant());
          }
          return answer;
        }));
  }

  @Override
  public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> own) {
    List<Claim> copy = List.copyOf(own);
    return send(Verb.KEEP, () -> store.keep(copy).thenApply(this::noteGrants));
  }

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    return send(Verb.END, () -> {
      claims.remove(claim.id());
      return store.end(claim, keepFor, lastGiveUp);
    });
  }

  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    return send(Verb.OWN, store::own);
  }

  @Override
  public CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    return send(Verb.LOOK, () -> store.inspect(name));
  }

  @Override
  public Waiters waitersOfFreeLock() {
    return store.waitersOfFreeLock();
  }

  @Override
  public CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return send(Verb.LOOK, () -> store.list(prefix, page));
  }

  @Override
  public CompletionStage<Boolean> evict(LockKey name, long revision) {
    return send(Verb.EVICT, () -> store.evict(name, revision));
  }

  @Override
  public CompletionStage<List<Finding>> diagnose() {
    return store.diagnose();
  }

  @Override
  public List<String> schema() {
    return store.schema();
  }

  @Override
  public List<String> dataSchema() {
    return store.dataSchema();
  }

  @Override
  public void close() {
    store.close();
  }

  private Map<ClaimId, Kept> noteGrants(Map<ClaimId, Kept> answers) {
    answers.forEach((claim, kept) -> {
      if (kept instanceof Kept.Held granted) {
        noteGrant(claim, granted.grant());
      }
    });
    return answers;
  }

  private void noteGrant(ClaimId claim, Grant grant) {
    claims.computeIfPresent(claim, (id, known) -> new Held(known.name(), grant.revision()));
  }

  private <T extends @Nullable Object> CompletionStage<T> send(
      Verb verb, Supplier<CompletionStage<T>> request) {
    Faults.Fate fate = faults.fate(verb);
    return switch (fate.kind()) {
      case NONE -> unlessSilent(request.get());
      case LOSE_REQUEST -> new CompletableFuture<>();
      case LOSE_REPLY -> {
        ignore(request.get());
        yield new CompletableFuture<>();
      }
      case DUPLICATE -> {
        CompletionStage<T> first = request.get();
        ignore(request.get());
        yield unlessSilent(first);
      }
      case DELAY_REQUEST -> {
        CompletableFuture<T> reply = new CompletableFuture<>();
        later(() -> forward(request.get(), reply), fate.by());
        yield reply;
      }
      case DELAY_REPLY -> {
        CompletableFuture<T> reply = new CompletableFuture<>();
        CompletionStage<T> early = request.get();
        // from when it would have come: a store may take the moment that its grant counts from on another thread
        ignore(
            early.whenComplete((value, failure) -> later(() -> forward(early, reply), fate.by())));
        yield reply;
      }
      case HOLD_REQUEST -> {
        CompletableFuture<T> reply = new CompletableFuture<>();
        faults.holdBack(() -> forward(request.get(), reply));
        yield reply;
      }
      case HOLD_REPLY -> {
        CompletableFuture<T> reply = new CompletableFuture<>();
        int lettings = faults.lettings();
        // it can be held back once it is there: who waits for that knows that the store has answered
        CompletionStage<T> early = request.get();
        early.whenComplete(
            (value, failure) -> faults.holdBack(lettings, () -> forward(early, reply)));
        yield reply;
      }
      case FAIL -> CompletableFuture.failedStage(failure(fate));
      case BREAK_OFF ->
        request.get().thenCompose(lost -> CompletableFuture.failedStage(failure(fate)));
    };
  }

  private static StoreException failure(Faults.Fate fate) {
    return new StoreException(
        "a fault of the test kit", Objects.requireNonNull(fate.reason()), fate.notApplied(), null);
  }

  private static void ignore(CompletionStage<?> reply) {
    Objects.requireNonNull(reply, "a store answers with a stage");
  }

  /** An answer that was on its way when the network went silent does not arrive. */
  private <T extends @Nullable Object> CompletionStage<T> unlessSilent(CompletionStage<T> stage) {
    CompletableFuture<T> reply = new CompletableFuture<>();
    forward(stage, reply);
    return reply;
  }

  private <T extends @Nullable Object> void forward(
      CompletionStage<T> from, CompletableFuture<T> to) {
    from.whenComplete((value, failure) -> {
      if (faults.isSilent()) {
        return;
      }
      if (failure == null) {
        to.complete(value);
      } else {
        Throwable cause = failure.getCause();
        boolean wrapped = failure instanceof CompletionException && cause != null;
        to.completeExceptionally(wrapped ? cause : failure);
      }
    });
  }

  private void later(Runnable work, Duration by) {
    Objects.requireNonNull(runtime).scheduler().schedule(work, by.toNanos());
  }

  private void loseHold(String lockName) {
    ClaimId claim = evictHolder(lockName);
    Objects.requireNonNull(events).lost(claim, LossReason.SESSION_ENDED);
  }

  private void evictSilently(String lockName) {
    evictHolder(lockName);
  }

  private ClaimId evictHolder(String lockName) {
    LockKey name = LockKey.of(lockName);
    long revision = Await.value(store.inspect(name))
        .map(info -> info.token() >>> 8)
        .orElseThrow(() -> new AssertionError("no client holds lock \"" + lockName + "\""));
    ClaimId claim = claims.entrySet().stream()
        .filter(entry -> entry.getValue().equals(new Held(name, revision)))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseThrow(
            () -> new AssertionError("this client does not hold lock \"" + lockName + "\""));
    Await.value(store.evict(name, revision));
    claims.remove(claim);
    return claim;
  }

  private record Held(LockKey name, long revision) {}

  /** Passes on what the store tells, unless the network is silent. */
  private final class Listening implements StoreEvents {
    private final StoreEvents to;

    Listening(StoreEvents to) {
      this.to = to;
    }

    @Override
    public void granted(ClaimId claim, Grant grant) {
      noteGrant(claim, grant);
      pass(() -> to.granted(claim, grant));
    }

    @Override
    public void lookAgain(ClaimId claim) {
      pass(() -> to.lookAgain(claim));
    }

    @Override
    public void lookAgainAll() {
      pass(to::lookAgainAll);
    }

    @Override
    public void disturbed() {
      pass(to::disturbed);
    }

    @Override
    public void restored() {
      pass(to::restored);
    }

    @Override
    public void lost(ClaimId claim, LossReason reason) {
      pass(() -> to.lost(claim, reason));
    }

    private void pass(Runnable event) {
      if (!faults.isSilent()) {
        event.run();
      }
    }
  }
}
