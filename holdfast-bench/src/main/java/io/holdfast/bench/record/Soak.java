// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.record;

import io.holdfast.DistributedLock;
import io.holdfast.Guarantees;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Works for as long as one likes, with a fault now and then, and looks for what grows: {@code dev/soak [--seed N]
 * [--minutes N] STORE}. After each round nobody holds or waits; then threads, files, memory and what the server keeps are
 * counted, and must be what they were after the first.
 */
public final class Soak {
  private static final int USAGE = 64;
  private static final int CLIENTS = 3;
  private static final int THREADS = 4;
  private static final int NAMES = 20;
  private static final int ODD_ONE_IN = 8;
  private static final long MINUTES = 60;
  private static final Duration LEASE = Duration.ofSeconds(5);
  private static final Duration WAIT = Duration.ofMillis(300);
  private static final Duration ROUND = Duration.ofSeconds(60);
  private static final Duration BETWEEN_FAULTS = Duration.ofSeconds(20);
  private static final int MOST_HELD_MILLIS = 10;
  private static final long LOOK_MILLIS = 100;
  private static final double GROWN = 1.25;
  private static final long SLACK = 12;

  private final StartedServer server;
  private final SplittableRandom random;
  private final CountDownLatch never = new CountDownLatch(1);
  private final Ticker ticker = Ticker.system();
  private final AtomicLong grants = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();
  private final Queue<Throwable> unexpected = new ConcurrentLinkedQueue<>();
  private final List<Holdfast> clients = new ArrayList<>();

  private Soak(StartedServer server, long seed) {
    this.server = server;
    this.random = new SplittableRandom(seed);
  }

  /** Exits with 0 if nothing has grown, 1 if something has, 64 for what it does not understand. */
  public static void main(String[] arguments) throws Exception {
    long seed = 1;
    long minutes = MINUTES;
    List<String> stores = new ArrayList<>();
    try {
      for (int i = 0; i < arguments.length; i++) {
        switch (arguments[i]) {
          case "--seed" -> seed = Long.parseLong(arguments[++i]);
          case "--minutes" -> minutes = Long.parseLong(arguments[++i]);
          default -> stores.add(arguments[i]);
        }
      }
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      // said below, as for a store that there is not
      stores.clear();
    }
    Supplier<StartedServer> start = stores.size() == 1 ? Servers.all().get(stores.get(0)) : null;
    if (start == null) {
      System.err.println("usage: dev/soak [--seed N] [--minutes N] STORE; the stores are "
          + String.join(", ", Servers.all().keySet()));
      System.exit(USAGE);
      return;
    }
    boolean grown;
    try (StartedServer server = start.get()) {
      grown = new Soak(server, seed).hasGrown(Duration.ofMinutes(minutes));
    }
    System.exit(grown ? 1 : 0);
  }

  private boolean hasGrown(Duration duration) throws Exception {
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(Holdfast.connect(server.uri()));
    }
    try {
      Guarantees guarantees = clients.get(0).guarantees();
      Duration lease =
          guarantees.shortestLease().compareTo(LEASE) > 0 ? guarantees.shortestLease() : LEASE;
      long end = ticker.nanos() + duration.toNanos();
      round(lease);
      Map<String, Long> first = look(lease.multipliedBy(3));
      Map<String, Long> last = first;
      while (ticker.nanos() - end < 0) {
        round(lease);
        last = look(lease.multipliedBy(3));
      }
      return compare(first, last);
    } finally {
      clients.forEach(Holdfast::close);
    }
  }

  private void round(Duration lease) throws Exception {
    long end = ticker.nanos() + ROUND.toNanos();
    long before = grants.get();
    List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < CLIENTS * THREADS; i++) {
      Holdfast client = clients.get(i % CLIENTS);
      SplittableRandom own = random.split();
      Thread worker = new Thread(() -> work(client, own, lease, end), "soak-" + i);
      worker.setUncaughtExceptionHandler((thread, thrown) -> unexpected.add(thrown));
      worker.start();
      workers.add(worker);
    }
    for (long next = ticker.nanos() + BETWEEN_FAULTS.toNanos();
        next - end < 0;
        next += BETWEEN_FAULTS.toNanos()) {
      pause((next - ticker.nanos()) / 1_000_000);
      if (random.nextBoolean()) {
        server.restart();
      } else {
        server.cut();
        pause(lease.toMillis() / 4);
        server.heal();
      }
    }
    for (Thread worker : workers) {
      worker.join();
    }
    Throwable first = unexpected.peek();
    if (first != null) {
      throw new IllegalStateException("a worker met what it should not", first);
    }
    if (grants.get() == before) {
      throw new IllegalStateException("no worker got a lock in a whole round");
    }
  }

  /** Takes locks in all the ways there are, and gives up in some. */
  private void work(Holdfast client, SplittableRandom own, Duration lease, long end) {
    while (ticker.nanos() - end < 0) {
      LockOptions options = LockOptions.builder()
          .leaseFor(lease)
          .fair(own.nextInt(ODD_ONE_IN) == 0)
          .build();
      DistributedLock lock = client.lock("soak/" + own.nextInt(NAMES), options);
      try {
        if (own.nextInt(ODD_ONE_IN) == 0) {
          CompletableFuture<Hold> future = lock.acquireAsync();
          if (own.nextBoolean()) {
            future.cancel(true);
          } else {
            use(future.join(), own);
          }
        } else {
          var hold = lock.tryAcquire(WAIT);
          if (hold.isPresent()) {
            use(hold.get(), own);
          }
        }
      } catch (HoldfastException | CompletionException e) {
        // the server is away; what it has of the claim is taken back in the background
        failures.incrementAndGet();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private void pause(long millis) throws InterruptedException {
    boolean unused = never.await(millis, TimeUnit.MILLISECONDS);
  }

  private void use(Hold hold, SplittableRandom own) throws InterruptedException {
    try (hold) {
      grants.incrementAndGet();
      pause(own.nextInt(MOST_HELD_MILLIS));
    }
  }

  /** Counts, as soon as nobody holds or waits. */
  private Map<String, Long> look(Duration within) throws Exception {
    long by = ticker.nanos() + within.toNanos();
    while (!clients.get(0).admin().list("soak/").isEmpty()) {
      if (ticker.nanos() - by > 0) {
        throw new IllegalStateException("a lock is held still, though no worker runs");
      }
      pause(LOOK_MILLIS);
    }
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("threads", (long) Thread.activeCount());
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      counts.put("files", files.count());
    }
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    counts.put("heap in MiB", (runtime.totalMemory() - runtime.freeMemory()) >> 20);
    counts.putAll(server.counts());
    System.out.println(grants + " grants, " + failures + " failures; " + counts);
    return counts;
  }

  private static boolean compare(Map<String, Long> first, Map<String, Long> last) {
    boolean grown = false;
    for (Map.Entry<String, Long> each : first.entrySet()) {
      long now = last.getOrDefault(each.getKey(), 0L);
      if (now > each.getValue() * GROWN + SLACK) {
        System.out.println("GROWN: " + each.getKey() + " from " + each.getValue() + " to " + now);
        grown = true;
      }
    }
    System.out.println(grown ? "FAILED" : "nothing has grown");
    return grown;
  }
}
