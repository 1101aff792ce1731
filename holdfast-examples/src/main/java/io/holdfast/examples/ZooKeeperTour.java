// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Five threads on one lock in ZooKeeper, or in any other store: {@code ZooKeeperTour zookeeper://localhost:2181}. Each
 * waits for its turn, for ten seconds at most.
 */
final class ZooKeeperTour {
  private static final int THREADS = 5;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final DistributedLock lock;

  /** Whose turn it was; nothing but the lock keeps the threads from writing at once. */
  private final List<Long> tokens = new ArrayList<>();

  private ZooKeeperTour(DistributedLock lock) {
    this.lock = lock;
  }

  /** Takes the tour. */
  public static void main(String[] args) throws InterruptedException, ExecutionException {
    String store = args.length == 0 ? "zookeeper://localhost" : args[0];
    try (Holdfast holdfast = Holdfast.connect(store)) {
      new ZooKeeperTour(holdfast.lock("tour")).take();
    }
  }

  private void take() throws InterruptedException, ExecutionException {
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      List<Future<?>> all = new ArrayList<>();
      try (Hold hold = lock.acquire()) {
        tokens.add(hold.token());
        System.out.println("we hold it; five threads want it, and wait for 10 s at most");
        for (int i = 0; i < THREADS; i++) {
          all.add(threads.submit(this::takeTurn));
        }
        Optional<Hold> now = threads.submit(() -> lock.tryAcquire()).get();
        System.out.println("a try does not wait: " + (now.isPresent() ? "has it" : "busy"));
        System.out.println("we release it");
      }
      for (Future<?> each : all) {
        each.get();
      }
    } finally {
      threads.shutdown();
    }
    List<Long> sorted = tokens.stream().sorted().distinct().toList();
    System.out.println("each had a greater token than the one before: " + sorted.equals(tokens));
    System.out.println("and free again: " + lock.tryAcquire().map(Hold::release).orElse(false));
  }

  private Void takeTurn() throws InterruptedException {
    // later than that, this throws an AcquireTimeoutException that names the holder
    try (Hold hold = lock.acquire(PATIENCE)) {
      System.out.println("turn " + tokens.size() + " of five");
      tokens.add(hold.token());
    }
    return null;
  }
}
