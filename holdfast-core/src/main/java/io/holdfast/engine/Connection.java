// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.HoldfastException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.ConnectionAdvice;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The first contact with the store: made once, or again after it failed, by the request that needs the store first. Requests
 * wait for it and follow it in the order in which they came: an end must not overtake the attempt before it.
 */
final class Connection {

  private final Engine engine;
  private final LockStore store;
  private final ReentrantLock lock = new ReentrantLock();
  private final Queue<Held<?>> held = new ArrayDeque<>();
  private @Nullable Contact contact;
  private volatile boolean connected;

  /** The failure of a contact that was given up before: a driver may report it after the time of a request. */
  private volatile @Nullable Throwable lateFailure;

  Connection(Engine engine) {
    this.engine = engine;
    this.store = engine.store;
  }

  /** A request that waits for the contact. */
  private record Held<T extends @Nullable Object>(
      Supplier<CompletionStage<T>> verb, CompletableFuture<T> answer) {
    void send() {
      safely(verb).whenComplete((value, failure) -> {
        if (failure == null) {
          answer.complete(value);
        } else {
          answer.completeExceptionally(failure);
        }
      });
    }
  }

  /** An attempt to contact the store. One that is not answered fails after a while: the next may fare better. */
  private final class Contact extends Timed {
    private final long patienceNanos;

    Contact(long patienceNanos) {
      this.patienceNanos = patienceNanos;
    }

    void make() {
      CompletionStage<@Nullable Void> contacted = safely(store::connect);
      // only now: a driver that was just loaded took its time before anything was sent
      engine.timer.set(this, engine.ticker.nanos() + patienceNanos);
      contacted.whenComplete((ready, failure) -> {
        engine.timer.clear(this);
        if (failure == null) {
          // also when it had been given up: the store is usable
          succeeded();
        } else {
          Throwable why = notSent(failure);
          lateFailure = failContact(this, why) ? null : why;
        }
      });
    }

    @Override
    void due() {
      failContact(this, noContact(patienceNanos));
    }
  }

  /** Whether requests are sent at once. */
  boolean isConnected() {
    return connected;
  }

  /**
   * Connects, waiting for at most the given time: longer than for a request, because drivers that are loaded only now, a
   * handshake and new tables take theirs.
   */
  void connectNow(long nanos) {
    Waiting.forAnswer(
        call(() -> CompletableFuture.completedFuture(true), nanos),
        nanos,
        () -> unanswered(nanos),
        null,
        store.describe());
  }

  /** Why a request was not answered for so long, as far as that is known here: null once there was a contact. */
  @Nullable
  Throwable unanswered(long nanos) {
    return connected ? null : noContact(nanos);
  }

  private Throwable noContact(long nanos) {
    Throwable late = lateFailure;
    String message = late != null
        ? String.valueOf(late.getMessage())
        : "the store did not answer the first contact within "
            + DurationText.of(Duration.ofNanos(nanos)) + "; " + ConnectionAdvice.SILENT;
    // also where the earlier contact was refused: that may be different by now, so that a wait goes on
    return new StoreException(message, Reason.UNREACHABLE, true, late);
  }

  /** Calls a verb of the store, after connecting if need be; what it throws fails the stage. */
  <T extends @Nullable Object> CompletionStage<T> call(Supplier<CompletionStage<T>> verb) {
    return call(verb, engine.requestTimeoutNanos());
  }

  private <T extends @Nullable Object> CompletionStage<T> call(
      Supplier<CompletionStage<T>> verb, long patienceNanos) {
    if (connected) {
      return safely(verb);
    }
    CompletableFuture<T> answer = new CompletableFuture<>();
    Contact fresh = null;
    boolean waits;
    lock.lock();
    try {
      waits = !connected;
      if (waits) {
        held.add(new Held<>(verb, answer));
      }
      if (waits && contact == null) {
        fresh = new Contact(patienceNanos);
        contact = fresh;
      }
    } finally {
      lock.unlock();
    }
    if (fresh != null) {
      fresh.make();
    }
    return waits ? answer : safely(verb);
  }

  /** Sends what has waited; what comes meanwhile waits behind it. */
  private void succeeded() {
    for (Held<?> next = nextHeld(); next != null; next = nextHeld()) {
      next.send();
    }
  }

  private @Nullable Held<?> nextHeld() {
    lock.lock();
    try {
      Held<?> next = held.poll();
      connected |= next == null;
      return next;
    } finally {
      lock.unlock();
    }
  }

  /** Fails the requests that wait for this contact; returns false if it was given up before. */
  private boolean failContact(Contact which, Throwable failure) {
    List<Held<?>> unsent = new ArrayList<>();
    boolean wasAwaited;
    lock.lock();
    try {
      wasAwaited = contact == which && !connected;
      if (wasAwaited) {
        contact = null;
        unsent.addAll(held);
        held.clear();
      }
    } finally {
      lock.unlock();
    }
    unsent.forEach(one -> one.answer.completeExceptionally(failure));
    return wasAwaited;
  }

  /** A request that waited for a contact which failed was never sent. */
  private static Throwable notSent(Throwable failure) {
    Throwable cause = Failures.unwrap(failure);
    if (cause instanceof HoldfastException) {
      return cause;
    }
    Reason reason = cause instanceof StoreException said ? said.reason() : Reason.UNREACHABLE;
    return new StoreException(String.valueOf(cause.getMessage()), reason, true, cause);
  }

  private static <T extends @Nullable Object> CompletionStage<T> safely(
      Supplier<CompletionStage<T>> verb) {
    try {
      return verb.get();
    } catch (RuntimeException | Error e) {
      // also a driver whose classes or native code cannot be loaded
      return CompletableFuture.failedFuture(e);
    }
  }
}
