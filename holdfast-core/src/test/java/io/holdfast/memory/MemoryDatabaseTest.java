// SPDX-License-Identifier: Apache-2.0
package io.holdfast.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.LockKey;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Changes of records, one after the other for each name. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MemoryDatabaseTest {
  private static final LockKey JOB = LockKey.of("job");

  private final MemoryDatabase database = new MemoryDatabase();

  /** The second change waits until the first one has removed the record, and finds none. */
  @Test
  void change_duringAnother_waitsForItsEnd() throws Exception {
    database.change(JOB, record -> new MemoryRecord());
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    FutureTask<?> drops = new FutureTask<>(
        () -> database.change(JOB, record -> {
          begun.countDown();
          awaitQuietly(goesOn);
          return null;
        }),
        null);
    new Thread(drops, "drops").start();
    begun.await();
    FutureTask<?> makes = new FutureTask<>(
        () -> database.change(JOB, record -> {
          assertThat(record).isNull();
          return new MemoryRecord();
        }),
        null);
    Thread waits = new Thread(makes, "makes");
    waits.start();
    while (waits.getState() == Thread.State.RUNNABLE) {
      Thread.onSpinWait();
    }
    goesOn.countDown();
    drops.get();
    makes.get();
    assertThat(database.keys()).containsExactly(JOB);
  }

  @Test
  void record_thatIsDropped_isNoLongerThere() {
    database.change(JOB, record -> null);
    assertThat(database.keys()).isEmpty();
    MemoryRecord made = new MemoryRecord();
    database.change(JOB, record -> made);
    database.change(JOB, record -> {
      assertThat(record).isSameAs(made);
      return record;
    });
    assertThat(database.keys()).containsExactly(JOB);
    database.change(JOB, record -> null);
    assertThat(database.keys()).isEmpty();
  }

  @Test
  void change_thatFails_changesNothing_andLetsOthersIn() throws Exception {
    assertThatThrownBy(() -> database.change(JOB, record -> {
          throw new IllegalStateException("no change");
        }))
        .hasMessage("no change");
    assertThat(database.keys()).isEmpty();
    FutureTask<?> another =
        new FutureTask<>(() -> database.change(JOB, record -> new MemoryRecord()), null);
    new Thread(another, "another").start();
    another.get();
    assertThat(database.keys()).containsExactly(JOB);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
