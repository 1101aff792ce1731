// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.testkit.Await;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On which thread a request is sent. */
class CallerExecutorTest {
  private final CallerExecutor executor = new CallerExecutor();

  @AfterEach
  void close() {
    executor.shutdownNow();
  }

  /** Which thread runs what is handed over now. */
  private CompletableFuture<Thread> handOver() {
    return CompletableFuture.supplyAsync(Thread::currentThread, executor);
  }

  @Test
  void execute_whileTheThreadAsks_runsOnIt() {
    CompletableFuture<Thread> ran = executor.ask(this::handOver);
    assertThat(ran).isCompletedWithValue(Thread.currentThread());
  }

  @Test
  void execute_whenTheThreadDoesNotAsk_runsOnThePool() {
    assertOnThePool(handOver());
    executor.ask(this::handOver);
    assertOnThePool(handOver());
    assertThatThrownBy(() -> executor.ask(() -> {
          throw new IllegalStateException("closed");
        }))
        .hasMessage("closed");
    assertOnThePool(handOver());
  }

  /** What one thread asks changes nothing for another, such as one that repeats a request. */
  @Test
  void execute_whileAnotherThreadAsks_runsOnThePool() {
    CompletableFuture<Thread> ran = new CompletableFuture<>();
    executor.ask(() -> {
      Runnable handsOver = () -> executor.execute(() -> ran.complete(Thread.currentThread()));
      new Thread(handsOver, "other").start();
      return Await.value(ran);
    });
    assertOnThePool(ran);
  }

  private static void assertOnThePool(CompletableFuture<Thread> ran) {
    Thread thread = Await.value(ran);
    assertThat(thread.getName()).isEqualTo("holdfast-etcd");
    assertThat(thread.isDaemon()).isTrue();
  }

  @Test
  void execute_whenItIsShutDown_refusesNothing() {
    executor.shutdown();
    assertThat(handOver()).isCompletedWithValue(Thread.currentThread());
    assertThat(executor.ask(this::handOver)).isCompletedWithValue(Thread.currentThread());
  }
}
