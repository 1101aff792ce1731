// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A tour of the lock on one Redis, or on any other store: {@code RedisTour redis://localhost}. Two clients in one program
 * stand for two machines.
 */
final class RedisTour {
  private RedisTour() {}

  /** Takes the tour. */
  public static void main(String[] args) throws InterruptedException {
    String store = args.length == 0 ? "redis://localhost" : args[0];
    try (Holdfast here = Holdfast.connect(store);
        Holdfast there = Holdfast.connect(store)) {
      take(here.lock("tour"), there.lock("tour"));
    }
  }

  private static void take(DistributedLock ours, DistributedLock theirs)
      throws InterruptedException {
    CompletableFuture<Hold> next;
    long token;
    try (Hold hold = ours.acquire()) {
      token = hold.token();
      System.out.println("we hold it; it renews itself, and if we die it is free in "
          + hold.remaining().toSeconds() + " s");

      Optional<Hold> second = theirs.tryAcquire();
      System.out.println("the other machine tries: " + (second.isPresent() ? "has it" : "busy"));

      Optional<Hold> soon = theirs.tryAcquire(Duration.ofMillis(200));
      System.out.println(
          "it waits 200 ms: " + (soon.isPresent() ? "has it" : "still busy, and nothing is left"));

      next = theirs.acquireAsync();
      System.out.println("it waits as long as it takes");
    }
    System.out.println("we have released it");
    try (Hold hold = next.join()) {
      System.out.println("the other machine has it, with a "
          + (hold.token() > token ? "greater" : "smaller") + " token");
    }

    JavaLock view = ours.asJavaLock();
    view.lock();
    try {
      view.lock();
      try {
        System.out.println("as a java.util.concurrent lock it is reentrant");
      } finally {
        view.unlock();
      }
    } finally {
      view.unlock();
    }
    System.out.println(
        "and free again: " + theirs.tryAcquire().map(Hold::release).orElse(false));
  }
}
