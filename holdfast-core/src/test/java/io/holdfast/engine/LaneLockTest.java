// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A lock whose owner is a number. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LaneLockTest {
  private static final int THREADS = 4;
  private static final int ROUNDS = 50_000;
  private static final int DEEPEST = 255;

  private final LaneLock lock = new LaneLock();

  /** Guarded by {@link #lock}. */
  private long count;

  @Test
  void lock_byManyThreads_excludes() throws Exception {
    List<FutureTask<?>> all = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      all.add(start(new FutureTask<>(this::countUp, null)));
    }
    for (FutureTask<?> each : all) {
      each.get();
    }
    assertThat(count).isEqualTo((long) THREADS * ROUNDS);
  }

  private void countUp() {
    for (int i = 0; i < ROUNDS; i++) {
      lock.lock();
      lock.lock();
      count++;
      lock.unlock();
      lock.unlock();
    }
  }

  @Test
  void lock_whileAnotherHasItTwice_waitsForBoth() throws Exception {
    lock.lock();
    lock.lock();
    FutureTask<Long> other = start(new FutureTask<>(this::readCount));
    awaitWaiting(other::isDone);
    lock.unlock();
    count = 1;
    assertThat(lock.hasQueuedThreads()).isTrue();
    lock.unlock();
    assertThat(other.get()).isEqualTo(1);
  }

  private long readCount() {
    lock.lock();
    try {
      return count;
    } finally {
      lock.unlock();
    }
  }

  @Test
  void lock_interrupted_waitsOnAndKeepsTheInterrupt() throws Exception {
    lock.lock();
    FutureTask<Boolean> other = new FutureTask<>(() -> {
      lock.lock();
      lock.unlock();
      return Thread.interrupted();
    });
    Thread thread = new Thread(other, "interrupted");
    thread.start();
    awaitWaiting(other::isDone);
    thread.interrupt();
    assertThat(other.isDone()).isFalse();
    lock.unlock();
    assertThat(other.get()).isTrue();
  }

  @Test
  void lock_byThreadsWithTheSameId_excludes() throws Exception {
    CountDownLatch taken = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    Thread owner = new SameId(() -> {
      lock.lock();
      taken.countDown();
      awaitQuietly(done);
      lock.unlock();
    });
    owner.start();
    taken.await();
    Thread other = new SameId(lock::lock);
    other.start();
    awaitWaiting(() -> !other.isAlive());
    done.countDown();
    owner.join();
    other.join();
  }

  /** Overrides its id, as any subclass of Thread may. */
  private static final class SameId extends Thread {
    SameId(Runnable task) {
      super(task, "same id");
    }

    @Override
    @SuppressWarnings("deprecation")
    public long getId() {
      return 1;
    }
  }

  @Test
  void unlock_byAnotherThread_isRefused() throws Exception {
    lock.lock();
    FutureTask<?> other = start(new FutureTask<>(
        () -> assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class)));
    other.get();
    lock.unlock();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void lock_tooOften_isRefusedAndChangesNothing() throws Exception {
    for (int i = 0; i < DEEPEST; i++) {
      lock.lock();
    }
    assertThatIllegalStateException().isThrownBy(lock::lock);
    for (int i = 0; i < DEEPEST; i++) {
      lock.unlock();
    }
    assertThat(start(new FutureTask<>(this::readCount)).get()).isZero();
  }

  private static <T> FutureTask<T> start(FutureTask<T> task) {
    new Thread(task, "lane lock").start();
    return task;
  }

  private void awaitWaiting(BooleanSupplier hasEnded) {
    while (!lock.hasQueuedThreads()) {
      assertThat(hasEnded.getAsBoolean()).as("ended without waiting").isFalse();
      Thread.onSpinWait();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
