// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.testkit.Await;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** P4 in this JVM: a client that is closed leaves nothing running. */
@ResourceLock(StoreContract.SHARED)
abstract class ThreadsContract extends Contract {
  /** No thread of a client outlives it. */
  @Test
  void close_endsItsThreads() throws Exception {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    Holdfast holdfast = client();
    DistributedLock lock = holdfast.lock(name, briefRenewed());
    try (Hold hold = lock.acquire()) {
      CompletableFuture<Hold> waits = lock.acquireAsync();
      assertTrue(hold.release());
      Await.value(waits.thenApply(Hold::release));
    }
    holdfast.close();
    Await.until("its threads have ended", () -> newThreads(before).isEmpty());
  }

  private static Set<Thread> newThreads(Set<Thread> before) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread) && thread.isAlive())
        .filter(thread -> thread.getName().contains("holdfast"))
        .collect(Collectors.toSet());
  }
}
