// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How often a client with one thread gets a lock that another one has two threads for. */
class SharesTest {
  private static final Duration TIME = Duration.ofSeconds(10);

  /** For how long a client has the lock to itself at least, whatever is known of others. */
  private static final Duration TURN = Duration.ofMillis(5);

  /** After what time a client asks whether others wait, and how long its turn is once it has heard so. */
  private static final Duration NOTICED = Duration.ofMillis(20);

  private final ManualClock clock = new ManualClock();
  private final MemoryDatabase database = new MemoryDatabase(clock);
  private final FaultyStore store = new FaultyStore(new MemoryStore(database));
  private final List<Holdfast> open = new ArrayList<>();
  private final Client two = new Client(client(store));
  private final Client one = new Client(client(new MemoryStore(database)));

  private Holdfast client(LockStore of) {
    Holdfast client = Holdfast.builder()
        .store(of)
        .ticker(clock)
        .scheduler(clock)
        .callbackExecutor(Runnable::run)
        .build();
    open.add(client);
    return client;
  }

  @AfterEach
  void close() {
    open.forEach(Holdfast::close);
  }

  /** What works in the lock, again and again; each time it comes back as soon as it has released it. */
  private final class Client {
    private final DistributedLock lock;
    private boolean wants = true;
    private int grants;

    Client(Holdfast holdfast) {
      lock = holdfast.lock("job");
    }

    void work(Duration each) {
      var unused = lock.acquireAsync().thenAccept(hold -> {
        grants++;
        clock.schedule(
            () -> {
              hold.close();
              if (wants) {
                work(each);
              }
            },
            each.toNanos());
      });
    }
  }

  /** The one comes again when the two have had the lock for 5 ms: at their fifth release, or at their first one. */
  @ParameterizedTest
  @CsvSource({"1, 16", "2, 24", "10, 49"})
  void oneThread_besideTwo_hasItsShare(int workMillis, int leastPercent) {
    Duration work = Duration.ofMillis(workMillis);
    two.work(work);
    two.work(work);
    one.work(work);
    clock.advance(TIME);
    assertThat(100.0 * one.grants / (one.grants + two.grants)).isGreaterThan(leastPercent);
    assertThat(one.grants).isLessThanOrEqualTo(two.grants);
  }

  /** It waited when the lock was released, and comes again and again, so that it is mostly not seen. */
  @Test
  void oneThatHasHadItsTurn_isTakenToComeAgain() {
    Hold first = acquire(two);
    CompletableFuture<Hold> waiting = one.lock.acquireAsync();
    first.release();
    Await.value(waiting).release();
    for (int i = 0; i < 3; i++) {
      acquire(two).release();
      acquire(one).release();
    }
    Hold again = acquire(two);
    CompletableFuture<Hold> neighbour = two.lock.acquireAsync();
    CompletableFuture<Hold> other = one.lock.acquireAsync();
    clock.advance(TURN);
    again.release();
    assertThat(other).isCompleted();
    assertThat(neighbour).isNotDone();
  }

  /** What came while the lock was held is noticed later, for that costs a request. */
  @Test
  void oneThatHasNotWaitedBefore_isNoticedLater() {
    Hold first = acquire(two);
    CompletableFuture<Hold> neighbour = two.lock.acquireAsync();
    CompletableFuture<Hold> other = one.lock.acquireAsync();
    clock.advance(TURN);
    first.release();
    assertThat(other).isNotDone();
    Hold second = Await.value(neighbour);
    CompletableFuture<Hold> third = two.lock.acquireAsync();
    clock.advance(NOTICED);
    second.release();
    CompletableFuture<Hold> fourth = two.lock.acquireAsync();
    clock.advance(NOTICED);
    Await.value(third).release();
    assertThat(other).isCompleted();
    assertThat(fourth).isNotDone();
  }

  private static Hold acquire(Client client) {
    return Await.value(client.lock.acquireAsync());
  }

  /** Turns cost requests: they end when the others do. */
  @Test
  void twoThreads_afterTheOneHasGone_keepTheLockAmongThemselves() {
    Duration work = Duration.ofMillis(1);
    two.work(work);
    two.work(work);
    one.work(work);
    clock.advance(TIME);
    one.wants = false;
    clock.advance(Duration.ofMillis(50));
    int before = store.faults().requests(Verb.ATTEMPT);
    clock.advance(Duration.ofSeconds(1));
    assertThat(store.faults().requests(Verb.ATTEMPT) - before)
        .as("a grant numbers 255 hand-overs")
        .isLessThan(10);
  }
}
