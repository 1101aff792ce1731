// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Scheduler;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.contract.StoreContract;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Transactions on the thread that waits for them anyway. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = StoreContract.SHARED, mode = ResourceAccessMode.READ)
class ConsulWaitingCallerTest {
  /** A session that is to be renewed first has the transaction made on another thread: no machine stands still for so long. */
  private static final Duration LEASE = Duration.ofMinutes(2);

  @RegisterExtension
  final StubbedConsul consul = new StubbedConsul();

  private final CountDownLatch over = new CountDownLatch(1);
  private final StoreRuntime real = consul.engine.runtime();
  private final ConsulStore store = consul.store(consul.agent.endpoint());

  @AfterEach
  void letGo() {
    over.countDown();
  }

  private void start(ConsulStore started, Duration timeout, Scheduler timer) {
    started.start(
        new StoreRuntime(real.client(), real.ticker(), timer, real.random(), timeout, () -> true),
        consul.engine);
  }

  private void start(Duration timeout) {
    start(timeout, real.scheduler());
  }

  private void start(Duration timeout, Scheduler timer) {
    start(store, timeout, timer);
    // its session is there from now on
    Claim first = consul.claim(LEASE);
    assertThat(Await.value(attempt(first))).isInstanceOf(Answer.Granted.class);
    assertThat(end(first)).isEqualTo(Outcome.RELEASED);
  }

  private CompletionStage<Answer> attempt(Claim claim) {
    return store.attempt(claim, Mode.QUEUE, store.time().plusSeconds(10));
  }

  private Outcome end(Claim claim) {
    return Await.value(store.end(claim, Duration.ZERO, Instant.MIN)).outcome();
  }

  /** Asks on a thread of its own; what that was told, and whether it was interrupted when it had been told. */
  private final class Caller {
    private final CompletableFuture<CompletionStage<Answer>> told = new CompletableFuture<>();
    private final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    private final Thread thread;

    Caller(Claim claim) {
      thread = new Thread(
          () -> {
            told.complete(attempt(claim));
            interrupted.complete(Thread.currentThread().isInterrupted());
          },
          "caller");
      thread.setDaemon(true);
      thread.start();
    }

    boolean wasInterrupted() {
      return Await.value(interrupted);
    }

    Throwable failure() {
      return Await.failure(Await.value(told));
    }
  }

  private static void assertUnknown(Throwable failure) {
    assertThat(failure)
        .isInstanceOfSatisfying(
            StoreException.class, unknown -> assertThat(unknown.notApplied()).isFalse());
  }

  /** The JDK's client would wait for ever for the rest of an answer that has begun; the store's timer may have ended by then. */
  @Test
  void answerThatStopsInTheMiddle_isGivenUp() {
    start(Duration.ofSeconds(5), (task, delay) -> () -> {});
    Claim mine = consul.claim(LEASE);
    consul.agent.beforeBody = () -> StubbedConsul.hang(over);
    Caller caller = new Caller(mine);
    assertThat(caller.wasInterrupted()).isFalse();
    assertUnknown(caller.failure());
    assertThat(consul.engine.told).contains("disturbed");
    consul.agent.beforeBody = () -> {};
    assertThat(end(mine)).isEqualTo(Outcome.RELEASED);
  }

  /** So does an answer that does not begin. */
  @Test
  void answerThatDoesNotCome_isGivenUp() {
    start(Duration.ofSeconds(5));
    Claim mine = consul.claim(LEASE);
    consul.agent.script = asked -> {
      StubbedConsul.hang(over);
      return Optional.empty();
    };
    Caller caller = new Caller(mine);
    assertThat(caller.wasInterrupted()).isFalse();
    assertUnknown(caller.failure());
  }

  /** Who is interrupted need not wait for the answer; that says nothing about the agent. */
  @Test
  void interrupt_endsTheWait() {
    start(Duration.ofMinutes(1));
    Claim mine = consul.claim(LEASE);
    CountDownLatch isAsked = new CountDownLatch(1);
    consul.agent.script = asked -> {
      isAsked.countDown();
      StubbedConsul.hang(over);
      return Optional.empty();
    };
    Caller caller = new Caller(mine);
    StubbedConsul.hang(isAsked);
    caller.thread.interrupt();
    assertThat(caller.wasInterrupted()).isTrue();
    assertUnknown(caller.failure());
    assertThat(consul.engine.told).isEmpty();
    consul.agent.script = asked -> Optional.empty();
    over.countDown();
    // what the agent does with it after all is called off, or taken back
    assertThat(end(mine)).isIn(Outcome.NOT_THERE, Outcome.RELEASED);
    assertThat(Await.value(attempt(consul.claim(LEASE)))).isInstanceOf(Answer.Granted.class);
  }

  /** Who was interrupted before can still release: the request is made where no interrupt ends it. */
  @Test
  void interruptedBefore_isAskedAllTheSame() {
    start(Duration.ofMinutes(1));
    Claim mine = consul.claim(LEASE);
    Thread.currentThread().interrupt();
    CompletionStage<Answer> told = attempt(mine);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(Await.value(told)).isInstanceOf(Answer.Granted.class);
    Thread.currentThread().interrupt();
    var ended = store.end(mine, Duration.ZERO, Instant.MIN);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(Await.value(ended).outcome()).isEqualTo(Outcome.RELEASED);
  }

  /** A worker of a fork-join pool that waited for the client would run whatever else stands in its line meanwhile. */
  @Test
  void workerOfAForkJoinPool_doesNotWait() {
    start(Duration.ofMinutes(1));
    CountDownLatch isReturned = new CountDownLatch(1);
    consul.agent.script = asked -> {
      StubbedConsul.hang(isReturned);
      return Optional.empty();
    };
    ForkJoinPool pool = new ForkJoinPool(1);
    try {
      CompletionStage<Answer> told =
          Await.value(CompletableFuture.supplyAsync(() -> attempt(consul.claim(LEASE)), pool));
      assertThat(told.toCompletableFuture()).isNotDone();
      isReturned.countDown();
      assertThat(Await.value(told)).isInstanceOf(Answer.Granted.class);
    } finally {
      isReturned.countDown();
      pool.shutdown();
    }
  }

  /** Nobody waits for the address of a name, for which there is no limit. */
  @Test
  void hostsWithoutALookup() {
    for (String agent : List.of(
        "http://localhost:8500",
        "http://127.0.0.1:8500",
        "https://10.1.2.3",
        "http://[::1]:8500")) {
      assertThat(ConsulHttp.needsNoLookup(URI.create(agent))).as(agent).isTrue();
    }
    for (String agent : List.of("http://consul.service:8500", "http://localhost.example:8500")) {
      assertThat(ConsulHttp.needsNoLookup(URI.create(agent))).as(agent).isFalse();
    }
  }

  /** An agent that is gone is left for the next one, which is not waited for here. */
  @Test
  void agentThatIsGone_isLeft() {
    StubAgent other = consul.anotherAgent();
    ConsulStore two = consul.store(consul.agent.endpoint() + "," + other.endpoint());
    start(two, Duration.ofSeconds(20), real.scheduler());
    Claim mine = consul.claim(LEASE);
    assertThat(Await.value(two.attempt(mine, Mode.QUEUE, Instant.MAX)))
        .isInstanceOf(Answer.Granted.class);
    consul.agent.close();
    // what was sent on the broken connection may have been done
    CompletionStage<?> told = two.end(mine, Duration.ZERO, Instant.MIN);
    told.exceptionally(unknown -> null);
    Await.value(two.end(mine, Duration.ZERO, Instant.MIN));
    assertThat(other.asked).isNotEmpty();
  }
}
