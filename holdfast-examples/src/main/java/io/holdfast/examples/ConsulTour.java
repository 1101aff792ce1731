// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A lock held for longer than its lease, on Consul or on any other store: {@code ConsulTour consul://localhost 50}. The
 * session behind it lasts 15 s and is renewed; the second argument says for how many seconds the lock is held. Two clients
 * in one program stand for two machines.
 */
final class ConsulTour {
  private static final int LEASE = 15;
  private static final int SECONDS = 50;
  private static final LockOptions RENEWED =
      LockOptions.builder().leaseFor(Duration.ofSeconds(LEASE)).build();

  private ConsulTour() {}

  /** Takes the tour. */
  public static void main(String[] args) throws Exception {
    String store = args.length == 0 ? "consul://localhost" : args[0];
    int seconds = args.length < 2 ? SECONDS : Integer.parseInt(args[1]);
    try (Holdfast here = Holdfast.connect(store);
        Holdfast there = Holdfast.connect(store)) {
      hold(here, there, seconds);
    }
  }

  private static void hold(Holdfast here, Holdfast there, int seconds) throws Exception {
    CompletableFuture<Hold> next;
    long token;
    try (Hold hold = here.lock("tour", RENEWED).acquire()) {
      token = hold.token();
      System.out.println("we hold it, with a lease of " + LEASE + " s");
      next = there.lock("tour", RENEWED).acquireAsync();
      System.out.println("the other machine waits");
      for (int passed = 0; passed < seconds && !next.isDone(); ) {
        int step = Math.min(LEASE, seconds - passed);
        passed += step;
        String state = isLostWithin(hold, step) ? "lost" : "still ours";
        System.out.println(
            passed + " s have passed: " + state + (next.isDone() ? "" : ", and it still waits"));
      }
      // throws if it is not ours any more: so one asks before a write
      hold.ensureValid();
    }
    System.out.println("we have released it");
    try (Hold hold = next.join()) {
      System.out.println("the other machine has it, with a "
          + (hold.token() > token ? "greater" : "smaller") + " token");
    }
  }

  /** Does nothing with the lock for so long, unless it is lost. */
  private static boolean isLostWithin(Hold hold, int seconds) throws Exception {
    try {
      hold.lost().get(seconds, TimeUnit.SECONDS);
      return true;
    } catch (TimeoutException e) {
      return !hold.isValid();
    }
  }
}
