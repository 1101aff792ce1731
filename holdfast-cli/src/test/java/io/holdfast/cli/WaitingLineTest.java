// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockAdmin;
import io.holdfast.LockEvent;
import io.holdfast.LockInfo;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class WaitingLineTest {
  private final StuckStream stream = new StuckStream().flow();
  private final StoreWait storeWait = new StoreWait(Ticker.system());

  /** The lock is granted while somebody looks at who has it: the command writes where the line would be. */
  @Test
  void closedWhileItLooks_showsNothing() throws Exception {
    SlowAdmin admin = new SlowAdmin();
    WaitingLine line = show(admin);
    admin.asked.await();
    line.close();
    admin.answers.countDown();
    admin.thread.join();
    assertThat(stream.taken()).isEmpty();
  }

  /** No client can have the free lock yet; the line says for how long. */
  @Test
  void line_whileTheStoreGrantsNothing_saysForHowLong() {
    storeWait.on(new LockEvent.Retrying("lock", "not yet", Optional.of(Duration.ofHours(25))));
    SlowAdmin admin = new SlowAdmin();
    admin.answers.countDown();
    WaitingLine line = show(admin);
    Await.until(
        "it is shown",
        () -> stream.taken().contains("): the store grants no lock for another 1 d"),
        stream::taken);
    storeWait.on(new LockEvent.Retrying("lock", "not yet", Optional.empty()));
    Await.until(
        "it is not shown any more",
        () -> stream.taken().endsWith("): free, and being acquired"),
        stream::taken);
    line.close();
  }

  private WaitingLine show(LockAdmin admin) {
    String before = System.setProperty("holdfast.terminal", "2");
    try {
      return WaitingLine.show(
          admin,
          "lock",
          new Messages(stream.stderr(), Messages.Level.USUAL),
          Ticker.system(),
          storeWait,
          true);
    } finally {
      if (before == null) {
        System.clearProperty("holdfast.terminal");
      } else {
        System.setProperty("holdfast.terminal", before);
      }
    }
  }

  /** Takes its time for an answer. */
  private static final class SlowAdmin implements LockAdmin {
    final CountDownLatch asked = new CountDownLatch(1);
    final CountDownLatch answers = new CountDownLatch(1);
    volatile Thread thread = Thread.currentThread();

    @Override
    public Optional<LockInfo> inspect(String name) {
      thread = Thread.currentThread();
      asked.countDown();
      try {
        answers.await();
      } catch (InterruptedException e) {
        throw new AssertionError("nobody interrupts this thread", e);
      }
      return Optional.empty();
    }

    @Override
    public List<LockInfo> list(String prefix) {
      return List.of();
    }

    @Override
    public boolean forceRelease(LockInfo seen) {
      return false;
    }

    @Override
    public long callbackFailures() {
      return 0;
    }
  }
}
