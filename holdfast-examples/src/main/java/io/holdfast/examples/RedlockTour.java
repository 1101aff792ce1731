// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.Optional;

/**
 * Redlock on three Redis servers that know nothing of each other: {@code RedlockTour
 * redlock://localhost:7001,localhost:7002,localhost:7003}. Waits for the lock for up to 100 seconds, and holds it with a
 * lease of 30. While it runs, end one of the three: nothing happens. End two: the hold is lost before its lease is over.
 */
final class RedlockTour {
  private RedlockTour() {}

  /** Takes the tour; stays at one point until it gets a line. */
  public static void main(String[] args) throws Exception {
    LockOptions options = LockOptions.builder()
        .leaseFor(Duration.ofSeconds(30))
        .note("redlock tour")
        .build();
    try (Holdfast holdfast = Holdfast.connect(args[0])) {
      DistributedLock lock = holdfast.lock("redlock-tour", options);
      Optional<Hold> got = lock.tryAcquire(Duration.ofSeconds(100));
      if (got.isEmpty()) {
        System.out.println("another client has had it for 100 s");
        return;
      }
      try (Hold hold = got.get()) {
        System.out.println("a majority has granted it, for at least "
            + hold.remaining().toSeconds() + " s, with token " + hold.token());
        System.out.println("press Enter to go on");
        System.in.read();
        System.out.println(hold.isValid() ? "it is still ours" : "it was lost");
      }
      System.out.println("released");
    }
  }
}
