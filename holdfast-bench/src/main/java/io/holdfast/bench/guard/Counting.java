// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** Does with a store what its users do, and has counted what it is asked for that. Two clients, in one process. */
final class Counting implements AutoCloseable {
  private static final int TIMES = 10;
  private static final int HOLDS = 100;

  /** Everything is done so often, and what was counted most often counts. */
  private static final int ROUNDS = 3;

  /** The same where threads of two clients may cross. */
  private static final int CROSSING_ROUNDS = 7;

  /** Longer than a third of the lease, shorter than half of it. */
  private static final Duration PASSING = Duration.ofSeconds(12);

  /** What no hold has left after that, unless it was renewed. */
  private static final Duration FRESH = LockOptions.DEFAULT_LEASE.minus(PASSING);

  /** A waiter's first look, on stores that do not call. */
  private static final Duration LOOKS_AGAIN = Duration.ofMillis(1);

  /** Longer than a machine stands still: no request is repeated for that. */
  private static final Duration REQUEST = Duration.ofSeconds(5);

  private final StillTime time = new StillTime();
  private final String store;
  private final Counter counter;
  private final boolean goesOn;
  private final BooleanSupplier hears;
  private final Holdfast one;
  private final Holdfast other;

  private Counting(String store, Subject subject) {
    this.store = store;
    counter = subject.counter();
    goesOn = subject.goesOn();
    hears = subject.hears();
    one = client(subject);
    other = client(subject);
  }

  private Holdfast client(Subject subject) {
    return Holdfast.builder()
        .store(subject.store().get())
        .ticker(time)
        .scheduler(time)
        // drivers go by the machine's clock: a request that they give up would be repeated by a clock that stands still
        .requestTimeout(REQUEST)
        .build();
  }

  /**
   * Returns for each thing that is done, in the order of the table, what was counted.
   *
   * @param store what the table calls it
   */
  static Map<String, Map<String, Long>> of(String store, Subject subject) throws Exception {
    try (Counting counting = new Counting(store, subject)) {
      return counting.all();
    }
  }

  /** Something that is done, and counts for itself what of it is of interest. */
  private interface Action {
    Map<String, Long> run() throws Exception;
  }

  /** Something that is counted as a whole. */
  private interface Steps {
    void run() throws Exception;
  }

  private Map<String, Map<String, Long>> all() throws Exception {
    Map<String, Map<String, Long>> all = new LinkedHashMap<>();
    all.put(TIMES + " cycles", usual(() -> counted(this::cycles)));
    JavaLock lock = one.lock("guarded").asJavaLock();
    lock.lock();
    try {
      all.put(TIMES + " reentries", usual(() -> counted(() -> reentries(lock))));
      all.put(TIMES + " tries, held elsewhere", usual(() -> counted(this::tries)));
    } finally {
      lock.unlock();
    }
    all.put(TIMES + " hand-overs within", usual(this::handOversWithin));
    all.putAll(waits());
    other.close();
    all.put(PASSING.toSeconds() + " s with " + HOLDS + " holds", renewals());
    return all;
  }

  private Map<String, Long> counted(Steps steps) throws Exception {
    // whatever was done before was awaited
    Map<String, Long> before = counter.now();
    steps.run();
    return Counter.since(before, Rest.of(counter));
  }

  private void cycles() throws InterruptedException {
    DistributedLock lock = one.lock("guarded");
    for (int i = 0; i < TIMES; i++) {
      Hold hold = lock.acquire();
      settle();
      end(hold);
      settle();
    }
  }

  private static void reentries(JavaLock lock) {
    for (int i = 0; i < TIMES; i++) {
      if (!lock.tryLock()) {
        throw new IllegalStateException("it is held by this thread");
      }
      lock.unlock();
    }
  }

  private void tries() {
    DistributedLock same = other.lock("guarded");
    for (int i = 0; i < TIMES; i++) {
      same.tryAcquire().ifPresent(hold -> {
        throw new IllegalStateException("two have it: " + hold);
      });
    }
  }

  private Map<String, Long> handOversWithin() throws Exception {
    DistributedLock lock = one.lock("within");
    List<Hold> holds = new ArrayList<>(List.of(lock.acquire()));
    Rest.of(counter);
    Map<String, Long> count = counted(() -> {
      for (int i = 0; i < TIMES; i++) {
        CompletableFuture<Hold> next = lock.acquireAsync();
        end(holds.remove(0));
        holds.add(next.join());
      }
    });
    end(holds.remove(0));
    Rest.of(counter);
    return count;
  }

  /** A client waits for the other: all of it, and what of it comes after the release, until the grant. */
  private Map<String, Map<String, Long>> waits() throws Exception {
    List<Map<String, Long>> handOvers = new ArrayList<>();
    List<Map<String, Long>> cycles = new ArrayList<>();
    for (int i = 0; i <= CROSSING_ROUNDS; i++) {
      time.catchUp();
      Hold first = one.lock("between").acquire();
      Map<String, Long> atFirst = Rest.of(counter);
      CompletableFuture<Hold> next = other.lock("between").acquireAsync();
      Await.until(store + ": the waiter hears of releases", hears);
      Map<String, Long> atRelease = Rest.of(counter);
      end(first);
      Map<String, Long> atGrant = Rest.of(counter);
      for (Duration wait = LOOKS_AGAIN; !next.isDone(); wait = wait.multipliedBy(2)) {
        time.pass(wait);
        atGrant = Rest.of(counter);
      }
      end(next.join());
      handOvers.add(Counter.since(atRelease, atGrant));
      cycles.add(Counter.since(atFirst, Rest.of(counter)));
    }
    Map<String, Map<String, Long>> both = new LinkedHashMap<>();
    both.put("a hand-over between clients", usual(handOvers));
    both.put("a cycle that waits", usual(cycles));
    return both;
  }

  private Map<String, Long> renewals() throws Exception {
    List<Hold> holds = new ArrayList<>();
    for (int i = 0; i < HOLDS; i++) {
      holds.add(one.lock("renewed:" + i).acquire());
    }
    Rest.of(counter);
    Map<String, Long> count = usual(() -> counted(() -> {
      time.pass(PASSING);
      Await.until(
          store + ": all are renewed",
          () -> holds.stream().allMatch(hold -> hold.remaining().compareTo(FRESH) > 0));
    }));
    for (Hold hold : holds) {
      end(hold);
    }
    return count;
  }

  /**
   * What is left of a request could otherwise meet the next one, or not, as fast as the machine is. And the next one is
   * later, by the clock that numbers it.
   */
  private void settle() {
    if (goesOn) {
      Rest.of(counter);
      time.catchUp();
    }
  }

  private static void end(Hold hold) {
    if (!hold.release()) {
      throw new IllegalStateException("the hold was not ours any more");
    }
  }

  private Map<String, Long> usual(Action action) throws Exception {
    List<Map<String, Long>> rounds = new ArrayList<>();
    for (int i = 0; i <= ROUNDS; i++) {
      time.catchUp();
      rounds.add(action.run());
    }
    return usual(rounds);
  }

  /** The first round is left out: it may open connections, and bring scripts and statements along. */
  private static Map<String, Long> usual(List<Map<String, Long>> rounds) {
    List<Map<String, Long>> some = rounds.subList(1, rounds.size());
    Map<String, Long> usual = new LinkedHashMap<>();
    for (String name : some.get(0).keySet()) {
      usual.put(
          name,
          mostFrequent(some.stream().map(round -> round.getOrDefault(name, 0L)).toList()));
    }
    return usual;
  }

  /** The least of those that are equally frequent: what comes in between only adds. */
  private static long mostFrequent(List<Long> values) {
    Map<Long, Integer> times = new HashMap<>();
    values.forEach(value -> times.merge(value, 1, Integer::sum));
    return times.entrySet().stream()
        .max(Comparator.comparing(Map.Entry<Long, Integer>::getValue)
            .thenComparing(Map.Entry::getKey, Comparator.reverseOrder()))
        .orElseThrow()
        .getKey();
  }

  @Override
  public void close() {
    one.close();
    other.close();
  }
}
