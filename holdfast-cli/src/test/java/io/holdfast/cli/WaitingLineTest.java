// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockAdmin;
import io.holdfast.LockInfo;
import io.holdfast.Ticker;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class WaitingLineTest {
  /** The lock is granted while somebody looks at who has it: the command writes where the line would be. */
  @Test
  void closedWhileItLooks_showsNothing() throws Exception {
    StuckStream stream = new StuckStream().flow();
    SlowAdmin admin = new SlowAdmin();
    String before = System.setProperty("holdfast.terminal", "2");
    WaitingLine line;
    try {
      line = WaitingLine.show(admin, "lock", new Messages(stream.stderr(), false), Ticker.system());
    } finally {
      if (before == null) {
        System.clearProperty("holdfast.terminal");
      } else {
        System.setProperty("holdfast.terminal", before);
      }
    }
    admin.asked.await();
    line.close();
    admin.answers.countDown();
    admin.thread.join();
    assertThat(stream.taken()).isEmpty();
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
