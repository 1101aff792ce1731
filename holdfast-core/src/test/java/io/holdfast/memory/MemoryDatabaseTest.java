// SPDX-License-Identifier: Apache-2.0
package io.holdfast.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Changes of records, one after the other for each name. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MemoryDatabaseTest {
  private static final LockKey JOB = LockKey.of("job");
  private static final Claim CLAIM = new Claim(
      new ClaimId("0123456789abcdef0123456789abcdef", 1),
      JOB,
      1,
      1,
      Duration.ofHours(1),
      false,
      new Holder("client", "host", 1, "thread", "note"));

  private final MemoryDatabase database = new MemoryDatabase();

  /** A change waits for another one, after which the record is dropped: it is done to the name's next record. */
  @Test
  void change_ofARecordThatIsDroppedMeanwhile_isNotLost() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    FutureTask<?> looks = start(() -> database.change(JOB, record -> {
      begun.countDown();
      awaitQuietly(goesOn);
    }));
    begun.await();
    FutureTask<?> takes = new FutureTask<>(this::take, null);
    Thread waits = new Thread(takes, "takes");
    waits.start();
    while (waits.getState() != Thread.State.BLOCKED) {
      Thread.onSpinWait();
    }
    goesOn.countDown();
    looks.get();
    takes.get();
    assertThat(isTaken()).isTrue();
    assertThat(database.keys()).containsExactly(JOB);
  }

  @Test
  void record_thatIsNotTakenNorWaitedFor_isDropped() {
    assertThat(isTaken()).isFalse();
    assertThat(database.describe(JOB)).isEmpty();
    assertThat(database.keys()).isEmpty();
    take();
    assertThat(isTaken()).isTrue();
    database.change(JOB, MemoryRecord::evict);
    assertThat(database.keys()).isEmpty();
    assertThatThrownBy(() -> database.change(JOB, record -> {
          throw new IllegalStateException("no change");
        }))
        .hasMessage("no change");
    assertThat(database.keys()).isEmpty();
  }

  private void take() {
    database.change(
        JOB, record -> record.grant(CLAIM, database.nextRevision(), database.nowNanos()));
  }

  private boolean isTaken() {
    List<Boolean> seen = new ArrayList<>();
    database.change(JOB, record -> seen.add(record.isHeldBy(CLAIM)));
    return seen.get(0);
  }

  private static FutureTask<?> start(Runnable task) {
    FutureTask<?> future = new FutureTask<>(task, null);
    new Thread(future, "changes").start();
    return future;
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
