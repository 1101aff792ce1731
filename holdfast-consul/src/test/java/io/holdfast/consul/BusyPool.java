// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;

/** A program whose common pool is busy all the time: it takes a lock, and its hold is renewed all the same. */
final class BusyPool {
  private BusyPool() {}

  public static void main(String[] args) throws Exception {
    int threads = ForkJoinPool.getCommonPoolParallelism();
    CountDownLatch busy = new CountDownLatch(threads);
    CountDownLatch over = new CountDownLatch(1);
    for (int i = 0; i < threads; i++) {
      ForkJoinPool.commonPool().execute(() -> {
        busy.countDown();
        Await.until("all is done", () -> over.getCount() == 0);
      });
    }
    busy.await();
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofSeconds(9)).build();
    try (Holdfast holdfast = Holdfast.connect(args[0]);
        Hold hold = holdfast.lock("job", brief).acquire(Duration.ofSeconds(10))) {
      Duration[] last = {hold.remaining()};
      Await.until("it is renewed", () -> {
        Duration now = hold.remaining();
        boolean isLonger = now.compareTo(last[0]) > 0;
        last[0] = now;
        return isLonger;
      });
      System.exit(threads == 2 && hold.isValid() ? 42 : 1);
    }
  }
}
