// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holder;
import io.holdfast.Holdfast;
import io.holdfast.LockAdmin;
import io.holdfast.LockInfo;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The operator's view: what is held, by whom; and ending it, but only what was seen. */
abstract class AdminContract extends Contract {
  /** Everything that is known of a held lock. */
  @Test
  void inspect_heldLock_saysAll() throws Exception {
    Holdfast holdfast = client(builder -> builder.clientName("billing"));
    String[] thread = {""};
    Task<Hold> task = spawn("holder", () -> {
      thread[0] = Thread.currentThread().getName();
      return holdfast
          .lock(name, LONG.toBuilder().note("nightly \u00fcber").build())
          .acquire();
    });
    try (Hold hold = task.get()) {
      LockInfo info = inStore().orElseThrow();
      assertEquals(name, info.name());
      assertTrue(info.isTaken());
      Holder holder = info.holder().orElseThrow();
      assertEquals("billing", holder.client());
      assertEquals(ProcessHandle.current().pid(), holder.pid());
      assertEquals(thread[0], holder.thread());
      assertEquals("nightly \u00fcber", holder.note());
      assertFalse(holder.host().isBlank());
      assertTrue(info.since().isPresent());
      assertTrue(info.leaseLeft().compareTo(LONG.leaseFor()) <= 0);
      assertTrue(
          info.leaseLeft().compareTo(hold.remaining().minus(LONG.leaseFor().dividedBy(2))) > 0);
      assertEquals(hold.token(), info.token());
      assertTrue(info.keptUntil().isEmpty());
      assertEquals(0, info.waiters().known());
      assertEquals(List.of(info.name()), names(observer().admin(), name));
    }
  }

  /** A waiter is counted where the store says that it counts all; else it says that others may wait. */
  @Test
  void inspect_awaitedLock_countsTheWaiterOrDoesNotSayHowManyWait() throws Exception {
    try (Hold hold = client().lock(name, LONG).acquire()) {
      Task<Hold> waiter = spawnAcquire(client().lock(name, LONG)).awaitWaiting();
      if (inStore().orElseThrow().waiters().areAll()) {
        Await.until(
            "the waiter is counted", () -> inStore().orElseThrow().waiters().known() == 1);
      } else {
        assertEquals("unknown", inStore().orElseThrow().waiters().toString());
      }
      assertTrue(hold.release());
      assertTrue(waiter.get().release());
    }
  }

  /** A lock that nobody has: nothing is known, or only that it was once held. */
  @Test
  void inspect_freeLock_isEmpty() throws Exception {
    assertTrue(inStore().isEmpty());
    client().lock(name, LONG).acquire().close();
    assertFalse(isTaken());
    client().lock(name, brief()).acquire().detach();
    Await.until("it expired", () -> !isTaken());
    assertTrue(names(observer().admin(), name).isEmpty());
  }

  /** Listing, by prefix, in the order of bytes. */
  @Test
  void list_byPrefix_isSorted() throws Exception {
    List<String> names = Stream.of(
            "a",
            "a/1",
            "a/10",
            "a/2",
            "a%",
            "a_",
            "aB",
            "ab",
            "b",
            "\u00e9",
            "\uff5e",
            "\ud83d\udd12")
        .map(each -> name + each)
        .toList();
    Holdfast holdfast = client();
    List<Hold> holds = new ArrayList<>();
    for (String each : names) {
      holds.add(holdfast.lock(each, LONG).acquire());
    }
    LockAdmin admin = observer().admin();
    assertEquals(names.stream().sorted(byBytes()).toList(), names(admin, name));
    assertEquals(List.of(name + "a/1", name + "a/10", name + "a/2"), names(admin, name + "a/"));
    for (String only : List.of("a%", "a_", "aB", "\ud83d\udd12")) {
      assertEquals(List.of(name + only), names(admin, name + only));
    }
    assertTrue(names(admin, name + "zzz").isEmpty());
    holds.forEach(Hold::close);
    assertTrue(names(admin, name).isEmpty());
  }

  /** More locks than a page holds. */
  @Test
  void list_manyLocks_isComplete() throws Exception {
    Holdfast holdfast = client();
    List<Hold> holds = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      holds.add(
          holdfast.lock(String.format(Locale.ROOT, "%s-%03d", name, i), LONG).acquire());
    }
    List<String> listed = names(observer().admin(), name);
    assertEquals(300, listed.size());
    assertEquals(listed.stream().sorted().distinct().toList(), listed);
    holds.forEach(Hold::close);
  }

  /** Ending a hold frees the lock for the next, with a greater token. */
  @Test
  void forceRelease_freesTheLock() throws Exception {
    Hold hold = client().lock(name, LONG).acquire();
    Task<Hold> waiter = spawnAcquire(client().lock(name, LONG)).awaitWaiting();
    assertTrue(observer().admin().forceRelease(inStore().orElseThrow()));
    Hold next = waiter.get();
    assertTrue(next.token() > hold.token());
    // the old holder may still believe in its hold, but its release ends nobody else's
    assertFalse(hold.release());
    assertTrue(next.isValid());
    assertTrue(isTaken());
    assertTrue(next.release());
  }

  /** Only what was seen is ended: not a later hold, nor nothing. */
  @Test
  void forceRelease_ofSomethingElse_doesNothing() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    Hold first = lock.acquire();
    LockInfo seen = inStore().orElseThrow();
    assertTrue(first.release());
    assertFalse(observer().admin().forceRelease(seen));
    try (Hold second = lock.acquire()) {
      assertFalse(observer().admin().forceRelease(seen));
      assertTrue(second.isValid());
      assertEquals(second.token(), inStore().orElseThrow().token());
      assertTrue(second.release());
    }
  }

  /** A hold that was handed over locally is one grant for the store, and is ended as such. */
  @Test
  @Warns("hold lost: (GONE|LEASE_ENDED)")
  void forceRelease_afterAHandOver_endsTheHold() throws Exception {
    DistributedLock lock = client().lock(name, briefRenewed());
    Hold first = lock.acquire();
    LockInfo seen = inStore().orElseThrow();
    var waiter = lock.acquireAsync();
    assertTrue(first.release());
    Hold second = Await.value(waiter);
    assertTrue(observer().admin().forceRelease(seen));
    Await.until("the loss was noticed", () -> !second.isValid());
    assertFalse(second.release());
  }

  /** A lock whose lease has ended is not shown as held. */
  @Test
  void expiredLock_isNotShown() throws Exception {
    Faulty faulty = faulty();
    Hold hold = faulty.lock(name, brief()).acquire(PLENTY);
    faulty.faults().goSilent();
    Await.until("the hold is lost", () -> !hold.isValid());
    Await.until("the store shows it as free", () -> !isTaken());
    assertTrue(names(observer().admin(), name).isEmpty());
    assertEquals(Duration.ZERO, inStore().map(LockInfo::leaseLeft).orElse(Duration.ZERO));
  }

  private static List<String> names(LockAdmin admin, String prefix) {
    return admin.list(prefix).stream()
        .filter(LockInfo::isTaken)
        .map(LockInfo::name)
        .toList();
  }

  private static Comparator<String> byBytes() {
    return (one, other) -> Arrays.compareUnsigned(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }
}
