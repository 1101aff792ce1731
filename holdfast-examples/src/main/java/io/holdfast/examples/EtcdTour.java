// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockAdmin;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A leader of three on etcd, or on any other store that is first come, first served: {@code EtcdTour
 * etcd://localhost:2379,localhost:2389,localhost:2399}. The holder of the lock leads, for the term that its token is; the
 * others wait for their turn. Three clients in one program stand for three machines.
 */
final class EtcdTour {
  private static final LockOptions TERM =
      LockOptions.builder().leaseFor(Duration.ofSeconds(5)).build();

  private EtcdTour() {}

  /** Takes the tour. */
  public static void main(String[] args) throws InterruptedException {
    String store = args.length == 0 ? "etcd://localhost" : args[0];
    try (Holdfast a = Holdfast.connect(store);
        Holdfast b = Holdfast.connect(store);
        Holdfast c = Holdfast.connect(store)) {
      elect(a, b, c);
    }
  }

  private static void elect(Holdfast a, Holdfast b, Holdfast c) throws InterruptedException {
    LockAdmin operator = a.admin();
    long term;
    CompletableFuture<Hold> second;
    CompletableFuture<Hold> third;
    try (Hold leads = a.lock("leader", TERM).acquire()) {
      term = leads.token();
      System.out.println("A leads");
      second = b.lock("leader", TERM).acquireAsync();
      awaitCandidates(operator, 1);
      third = c.lock("leader", TERM).acquireAsync();
      awaitCandidates(operator, 2);
      System.out.println("B and C wait for their turn, in this order");
    }
    System.out.println("A has stepped down");
    try (Hold leads = second.join()) {
      System.out.println("B leads, in " + compared(leads.token(), term) + " term");
      term = leads.token();
      System.out.println("an operator deposes B: "
          + operator.inspect("leader").map(operator::forceRelease).orElse(false));
      leads.lost().join();
      System.out.println("B was told, and leads no more: " + !leads.isValid());
    }
    try (Hold leads = third.join()) {
      System.out.println("C leads, in " + compared(leads.token(), term) + " term");
    }
  }

  private static String compared(long token, long before) {
    return token > before ? "a later" : "an earlier";
  }

  /** Waits until so many want to lead next. An application needs no such thing; the tour wants them in order. */
  private static void awaitCandidates(LockAdmin operator, int count) {
    while (operator
        .inspect("leader")
        .map(info -> info.waiters().known() < count)
        .orElse(true)) {
      Thread.onSpinWait();
    }
  }
}
