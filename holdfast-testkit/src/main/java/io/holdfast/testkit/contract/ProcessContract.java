// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.process.LockTakerProcess;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** P1 to P6 between real processes, which are killed and stopped while they hold and while they wait. */
abstract class ProcessContract extends Contract {
  private final List<LockTakerProcess> takers = new ArrayList<>();

  /** Ends the processes of the test. */
  @AfterEach
  void endTakers() {
    takers.forEach(LockTakerProcess::close);
  }

  /** Three processes, one of them this one, add to a number in a file: none is lost, tokens grow all the way. */
  @Test
  void processes_excludeEachOther(@TempDir Path folder) throws Exception {
    Path file = Files.write(folder.resolve("number"), new byte[2 * Long.BYTES]);
    List<CompletableFuture<String>> others = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      others.add(taker().send("use " + name + " " + file + " 40"));
    }
    Holdfast holdfast = client();
    for (int i = 0; i < 40; i++) {
      try (Hold hold = holdfast.lock(name).acquire()) {
        ByteBuffer before = ByteBuffer.wrap(Files.readAllBytes(file));
        long count = before.getLong();
        assertTrue(before.getLong() < hold.token());
        ByteBuffer after = ByteBuffer.allocate(2 * Long.BYTES);
        Files.write(file, after.putLong(count + 1).putLong(hold.token()).array());
      }
    }
    for (CompletableFuture<String> other : others) {
      assertEquals("USED 40", Await.value(other));
    }
    assertEquals(120, ByteBuffer.wrap(Files.readAllBytes(file)).getLong());
  }

  /**
   * A holder that is killed keeps the lock for its lease, and no longer. Where its death is noticed, until then; but for a lease
   * that is not renewed.
   */
  @Test
  void killedHolder_losesTheLockAfterItsLease() throws Exception {
    DistributedLock other = client().lock(name, LONG);
    if (store().noticesDeath()) {
      LockTakerProcess taker = taker();
      long began = nanoTime();
      long token = acquire(taker, LONG.leaseFor().toMillis(), true);
      taker.kill();
      try (Hold next = other.acquire()) {
        assertTrue(next.token() > token);
      }
      assertTrue(nanoTime() - began < LONG.leaseFor().toNanos());
    }
    LockOptions first = LockOptions.builder()
        .leaseFor(Duration.ofMillis(lease()))
        .renew(!store().noticesDeath())
        .build();
    Rounds.untilShown(first, options -> isSeenHeld(other, options.leaseFor().toMillis()));
  }

  /** Looks for what a killed holder leaves, and takes it afterwards; false if the look came too late to show anything. */
  private boolean isSeenHeld(DistributedLock other, long lease) throws Exception {
    LockTakerProcess taker = taker();
    long began = nanoTime();
    long token = acquire(taker, lease, !store().noticesDeath());
    taker.kill();
    Optional<LockInfo> info = inStore().filter(LockInfo::isTaken);
    Optional<Hold> early = other.tryAcquire();
    if (nanoTime() - began >= lease * 600_000) {
      // the next round is to find the lock free, and has its own time then
      Hold next = early.isPresent() ? early.get() : other.acquire();
      next.close();
      return false;
    }
    assertEquals("lock-taker", info.orElseThrow().holder().orElseThrow().client());
    assertTrue(early.isEmpty());
    try (Hold next = other.acquire()) {
      assertTrue(next.token() > token);
    }
    return true;
  }

  /** A waiter that is killed is passed over. */
  @Test
  void killedWaiter_isPassedOver() throws Exception {
    LockTakerProcess taker = taker();
    Hold hold = client().lock(name, LONG).acquire();
    CompletableFuture<String> never = taker.send("acquire " + name + " " + mortal() + " true");
    Task<Hold> waiter = spawnAcquire(client().lock(name, LONG)).awaitWaiting();
    taker.kill();
    assertEquals("ENDED", Await.value(never));
    long released = nanoTime();
    assertTrue(hold.release());
    assertTrue(waiter.get().release());
    assertTrue(nanoTime() - released < LONG.leaseFor().toNanos());
  }

  /**
   * A holder that is stopped for longer than its lease loses the lock; when it goes on, the first thing that it can see
   * is that its hold is not valid, and it is told of the loss once.
   */
  @Test
  @Warns("hold lost")
  void stoppedHolder_seesItsLossFirst() throws Exception {
    LockTakerProcess taker = taker();
    // a busy machine stands still too, but not for that long
    long lease = longer(briefLease().multipliedBy(2), Duration.ofSeconds(4)).toMillis();
    long token = acquire(taker, lease, true);
    assertEquals("WATCHING", taker.ask("watch " + lease));
    taker.stop();
    long stopped = nanoTime();
    try (Hold next = client().lock(name, LONG).acquire()) {
      assertTrue(next.token() > token);
      Await.until(
          "it stood still for more than a lease", () -> nanoTime() - stopped > lease * 1_200_000);
      taker.letGoOn();
      Await.until(
          "it noticed that it had been stopped", () -> !taker.ask("watched").contains(" 0 "));
      assertEquals("WATCHED 1 0", taker.ask("watched"));
      Await.until("it was told", () -> taker.ask("state").equals("STATE LOST false 1"));
      assertEquals("RELEASED false", taker.ask("release"));
      assertTrue(next.isValid());
      assertEquals(next.token(), inStore().orElseThrow().token());
    }
    assertEquals("STATE LOST false 1", taker.ask("state"));
  }

  /** A waiter that is stopped holds up nobody for long, and gets its turn when it goes on. */
  @Test
  void stoppedWaiter_getsItsTurnLater() throws Exception {
    LockTakerProcess taker = taker();
    Hold hold = client().lock(name, LONG).acquire();
    CompletableFuture<String> answer = taker.send("acquire " + name + " " + mortal() + " true");
    taker.stop();
    Task<Hold> waiter = spawnAcquire(client().lock(name, LONG)).awaitWaiting();
    assertTrue(hold.release());
    Hold mine = waiter.get();
    assertFalse(answer.isDone());
    taker.letGoOn();
    assertTrue(mine.release());
    String held = Await.value(answer);
    assertTrue(held.startsWith("HELD "), held);
    assertTrue(Long.parseLong(held.substring(5)) > mine.token());
    assertEquals("RELEASED true", taker.ask("release"));
    assertFalse(isTaken());
  }

  /** A process that ends in an orderly way leaves nothing. */
  @Test
  void endedProcess_leavesNothing() {
    LockTakerProcess taker = taker();
    long token = acquire(taker, 30_000, true);
    assertTrue(token > 0);
    taker.close();
    assertFalse(isTaken());
  }

  /** Killed at any moment, again and again: tokens grow, the lock is never stuck, nothing is left. */
  @Test
  void killedAtRandom_leavesNothing() throws Exception {
    long last = 0;
    Holdfast holdfast = client();
    for (int i = 0; i < 3; i++) {
      LockTakerProcess taker = taker();
      CompletableFuture<String> held = taker.send("acquire " + name + " " + lease() + " true");
      if (i == 1) {
        last = Long.parseLong(Await.value(held).substring(5));
      }
      taker.kill();
      try (Hold hold = holdfast.lock(name, LONG).acquire()) {
        assertTrue(hold.token() > last);
        last = hold.token();
      }
    }
  }

  private LockTakerProcess taker() {
    LockTakerProcess taker = LockTakerProcess.start(store().uri());
    takers.add(taker);
    return taker;
  }

  private long lease() {
    return briefLease().multipliedBy(2).toMillis();
  }

  private long mortal() {
    return store().leaseOfKilledWaiter().toMillis();
  }

  private long acquire(LockTakerProcess taker, long leaseMillis, boolean renew) {
    String held = taker.ask("acquire " + name + " " + leaseMillis + " " + renew);
    assertTrue(held.startsWith("HELD "), held);
    return Long.parseLong(held.substring(5));
  }
}
