// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.holdfast.DistributedLock;
import io.holdfast.Guarantee;
import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockOptions;
import io.holdfast.OnLost;
import io.holdfast.testkit.Faults;
import io.holdfast.testkit.HoldfastExtension;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The Java code of the README and of docs: {@link DocumentsTest} finds each of its blocks here, and {@link
 * ReadmeSnippetsTest} runs what can be run without a server. Names around the blocks are for the reader's imagination.
 */
final class ReadmeSnippets {
  /** A table with a column for the greatest token seen. */
  @FunctionalInterface
  interface Database {
    int update(String sql, Object... arguments);
  }

  /** Something to work on. */
  record Order(int number) {}

  private final Database orders;
  private final List<String> log;

  ReadmeSnippets(Database orders, List<String> log) {
    this.orders = orders;
    this.log = log;
  }

  private void work(Hold hold) {
    log("worked with " + hold.token());
  }

  private String summarise(Hold hold) {
    return "summary " + hold.token();
  }

  private void ship(Order order, long token) {
    log("shipped " + order.number() + " with " + token);
  }

  private void log(String line) {
    log.add(line);
  }

  void firstScreen() throws InterruptedException {
    try (Holdfast holdfast = Holdfast.connect("sqlite:locks.db")) {
      DistributedLock lock = holdfast.lock("order:42"); // cheap, no I/O
      try (Hold hold = lock.acquire()) { // waits until it is ours
        int rows = orders.update( // the token check: a late writer changes nothing
            "UPDATE orders SET state = 'sent', fence = ? WHERE id = 42 AND fence <= ?",
            hold.token(),
            hold.token());
        if (rows == 0) throw new IllegalStateException("a newer holder has written");
      }
    }
  }

  void bothLocks(Lock old, DistributedLock lock) throws InterruptedException {
    old.lock();
    try (Hold hold = lock.acquire(Duration.ofSeconds(10))) { // only release 3 can be in the way
      work(hold);
    } finally {
      old.unlock();
    }
  }

  void acquire(DistributedLock lock) throws InterruptedException {
    try (Hold hold = lock.acquire()) { // waits as long as it takes
      work(hold);
    }
    try (Hold hold =
        lock.acquire(Duration.ofSeconds(10))) { // AcquireTimeoutException names the holder
      work(hold);
    }
    lock.run(hold -> work(hold)); // acquires, works, releases
    String report = lock.call(hold -> summarise(hold));
    log(report);
  }

  void tryToAcquire(DistributedLock lock) throws InterruptedException {
    Optional<Hold> free = lock.tryAcquire(); // one attempt; empty only if somebody else has it
    if (free.isPresent()) {
      try (Hold hold = free.get()) {
        work(hold);
      }
    }
    Optional<Hold> soon = lock.tryAcquire(Duration.ofSeconds(5)); // waits, but not longer
    boolean ran = lock.tryRun(hold -> work(hold)); // false: busy, not run
    log("ran " + ran);
    soon.ifPresent(Hold::close);
  }

  void checkTheToken(Hold hold, int item, int pieces) {
    int rows = orders.update(
        "UPDATE stock SET pieces = ?, fence = ? WHERE item = ? AND fence <= ?",
        pieces,
        hold.token(),
        item,
        hold.token());
    if (rows == 0) {
      throw new IllegalStateException(
          "token " + hold.token() + " is stale: a newer holder has written");
    }
  }

  DistributedLock options(Holdfast holdfast) {
    LockOptions options = LockOptions.builder()
        .leaseFor(Duration.ofSeconds(20)) // how long a dead holder keeps the lock; default 30 s
        .renew(true) // renewed while it is held; false makes it a fixed lease
        .holdAtMost(Duration.ofMinutes(10)) // lost then, and not renewed past it
        .holdAtLeast(Duration.ofSeconds(50)) // stays taken until then, after success
        .fair(true) // arrival order between processes, where the store can
        .note("nightly report") // shown to people
        .build();
    DistributedLock nightly = holdfast.lock("nightly", options);
    return nightly;
  }

  void loss(DistributedLock lock, List<Order> batch) throws InterruptedException {
    try (Hold hold = lock.acquire()) {
      for (Order order : batch) {
        hold.ensureValid(); // HoldLostException; local, no I/O
        ship(order, hold.token());
      }
    }
  }

  List<LockOptions> toldOfLoss() {
    LockOptions told = LockOptions.builder()
        .onLost(OnLost.call(loss -> log(loss.reason() + ", token " + loss.token())))
        .build();
    LockOptions stopped =
        LockOptions.builder().onLost(OnLost.interruptAcquirer()).build();
    return List.of(told, stopped);
  }

  CompletableFuture<Void> futureOfLoss(Hold hold) {
    CompletableFuture<Void> after = hold.lost().thenRun(() -> log("lost")); // once, if ever
    return after;
  }

  void javaLock(DistributedLock lock, Order order) {
    JavaLock javaLock = lock.asJavaLock(); // reentrant, owned by the thread
    javaLock.lock();
    try {
      javaLock.lock(); // entering again costs no I/O and keeps the token
      try {
        ship(order, javaLock.hold().token());
      } finally {
        javaLock.unlock();
      }
    } finally {
      javaLock.unlock();
    }
  }

  CompletableFuture<Void> async(DistributedLock lock) {
    CompletableFuture<Void> done = lock.acquireAsync(Duration.ofSeconds(10)).thenAccept(hold -> {
      try (hold) {
        work(hold);
      }
    });
    return done;
  }

  @ExtendWith(HoldfastExtension.class)
  static class OrderServiceTest {
    @Test // with @ExtendWith(HoldfastExtension.class) on the class
    void save_afterTheHoldWasLost_isRefused(Holdfast holdfast, Faults faults) throws Exception {
      Hold hold = holdfast.lock("order:42").acquire(); // what your code does
      faults.loseHold("order:42"); // a pause outlasted the lease; no sleep
      assertThrows(HoldLostException.class, hold::ensureValid); // what it should make of that
    }
  }

  Holdfast atStartUp() {
    Holdfast checked = Holdfast.builder()
        .store("sqlite:locks.db")
        .clientName("billing")
        .listener(event -> log(event.toString()))
        .build();
    checked.guarantees().require(Guarantee.EXCLUDES_PROCESSES, Guarantee.TOKENS_SURVIVE_RESTART);
    return checked;
  }
}
