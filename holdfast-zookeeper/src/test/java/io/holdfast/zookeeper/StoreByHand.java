// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Holder;
import io.holdfast.LossReason;
import io.holdfast.Moment;
import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A store without an engine: its clock and its timer are moved by hand, and what it tells is written down. */
final class StoreByHand implements StoreEvents, Ticker, Scheduler, AutoCloseable {
  final List<String> told = new CopyOnWriteArrayList<>();
  final String id;
  final LockStore store;

  private static final long SWEEP_NANOS = 100_000_000L;

  private final List<Task> tasks = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Runnable> whenAsked = new AtomicReference<>();
  private final AtomicLong nanos = new AtomicLong(1_000_000_000L);
  private int claims;

  private record Task(Runnable what, long delayNanos) {}

  StoreByHand(String id, LockStore store) {
    this.id = id.repeat(32);
    this.store = store;
    store.start(new StoreRuntime(this.id, this, this, new Random(1), Duration.ofSeconds(2)), this);
    Await.value(store.connect());
  }

  Claim claim(String name) {
    return claim(name, Duration.ofSeconds(30));
  }

  Claim claim(String name, Duration lease) {
    return new Claim(
        new ClaimId(id, ++claims),
        LockKey.of(name),
        1,
        1,
        lease,
        false,
        new Holder("test", "here", 1, "main", ""));
  }

  CompletionStage<Answer> ask(Claim claim, Mode mode) {
    return store.attempt(claim, mode, Instant.MAX);
  }

  Answer attempt(Claim claim) {
    return Await.value(ask(claim, Mode.QUEUE));
  }

  Grant granted(Claim claim) {
    return assertInstanceOf(Answer.Granted.class, attempt(claim)).grant();
  }

  void busy(Claim claim, Mode mode) {
    assertInstanceOf(Answer.Busy.class, Await.value(ask(claim, mode)));
  }

  @Nullable
  Kept keep(Claim claim) {
    return Await.value(store.keep(List.of(claim))).get(claim.id());
  }

  Ended.Outcome end(Claim claim, Duration keepFor) {
    return Await.value(store.end(claim, keepFor, Instant.MAX)).outcome();
  }

  boolean wasGranted(Claim claim) {
    return told.stream().anyMatch(each -> each.startsWith("granted " + claim.id() + " "));
  }

  void awaitLookAgain(Claim claim) {
    Await.until(
        "it is told to look again, not " + told,
        () -> wasGranted(claim) || told.contains("lookAgain " + claim.id()));
    assertTrue(!wasGranted(claim), told::toString);
  }

  // the clock and the timer

  void forward(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  /** Runs it once, where somebody next asks how long something is ago. */
  void whenAsked(Runnable what) {
    whenAsked.set(what);
  }

  /** The look for claims that are overdue. */
  void sweep() {
    run(SWEEP_NANOS);
  }

  /** Runs the tasks that were scheduled with that delay. */
  void run(long delayNanos) {
    for (Task each : List.copyOf(tasks)) {
      if (each.delayNanos == delayNanos && tasks.remove(each)) {
        each.what.run();
      }
    }
  }

  /** How many tasks wait for their time. */
  int waiting() {
    return tasks.size();
  }

  @Override
  public Scheduled schedule(Runnable task, long delayNanos) {
    Task fresh = new Task(task, delayNanos);
    tasks.add(fresh);
    return () -> tasks.remove(fresh);
  }

  @Override
  public long nanos() {
    return nanos.get();
  }

  @Override
  public long wallMillis() {
    return nanos() / 1_000_000L;
  }

  @Override
  public long elapsedNanos(Moment moment) {
    Runnable what = whenAsked.getAndSet(null);
    if (what != null) {
      what.run();
    }
    return moment.elapsedNanos(nanos(), wallMillis());
  }

  // what is told

  @Override
  public void granted(ClaimId claim, Grant grant) {
    told.add("granted " + claim + " " + grant.revision());
  }

  @Override
  public void lookAgain(ClaimId claim) {
    told.add("lookAgain " + claim);
  }

  @Override
  public void lookAgainAll() {
    told.add("lookAgainAll");
  }

  @Override
  public void disturbed() {
    told.add("disturbed");
  }

  @Override
  public void restored() {
    told.add("restored");
  }

  @Override
  public void lost(ClaimId claim, LossReason reason) {
    told.add("lost " + claim + " " + reason);
  }

  @Override
  public void close() {
    store.close();
  }
}
