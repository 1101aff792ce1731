// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.engine.EngineHold;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How often a client with one thread gets a lock that another one has two threads for. */
class SharesTest {
  private static final Duration TIME = Duration.ofSeconds(10);

  /** If others wait or are expected, a client gives the lock back at its first release after this time. */
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

  /** The single thread gets the lock once the two have had it for 5 ms: at their fifth, third or first release. */
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

  /** As a store whose clients learn who waits only when they look: "busy" was a sign of others all the same. */
  @Test
  void oneThread_onAStoreThatDoesNotSayWhoWaits_hasItsShare() {
    Client both = new Client(client(new Reticent(database)));
    Client single = new Client(client(new Reticent(database)));
    Duration work = Duration.ofMillis(1);
    both.work(work);
    both.work(work);
    single.work(work);
    clock.advance(TIME);
    assertThat(100.0 * single.grants / (single.grants + both.grants)).isGreaterThan(16);
  }

  /** It waited when the lock was released, and comes again and again, so that it is mostly not seen. */
  @Test
  void clientThatHadTheLock_isExpectedAgain() {
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
  void clientThatComesDuringAHold_isNoticedByARenewal() {
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

  /** A store may count them as others, at a release, and be busy with their hold. */
  @Test
  void fairRequestsOfTheSameClient_areNoOthers() {
    Reticent own = new Reticent(database);
    Client alone = new Client(client(own));
    Hold first = acquire(alone);
    CompletableFuture<Hold> fair =
        alone.lock.withOptions(LockOptions.builder().fair(true).build()).acquireAsync();
    own.says = true;
    first.release();
    own.says = false;
    Await.value(fair).release();
    Hold again = acquire(alone);
    CompletableFuture<Hold> neighbour = alone.lock.acquireAsync();
    int before = own.attempts;
    clock.advance(TURN);
    again.release();
    assertThat(neighbour).isCompleted();
    assertThat(own.attempts).as("it was handed over").isEqualTo(before);
  }

  /** A try has the lock meanwhile: what was so at the release before says nothing of its turn. */
  @Test
  void lateAnswerToARelease_leavesTheTurnOfTheNextHold() {
    Hold elsewhere = acquire(one);
    CompletableFuture<Hold> first = two.lock.acquireAsync();
    elsewhere.release();
    store.faults().on(Verb.END).once().delayReply(TURN.dividedBy(2));
    CompletableFuture<Boolean> released = ((EngineHold) Await.value(first)).releaseAsync(false);
    Hold tried = Await.value(two.lock.tryAcquireAsync()).orElseThrow();
    CompletableFuture<Hold> neighbour = two.lock.acquireAsync();
    CompletableFuture<Hold> other = one.lock.acquireAsync();
    assertThat(released).isNotDone();
    clock.advance(TURN);
    assertThat(released).isCompletedWithValue(true);
    tried.release();
    assertThat(other).isCompleted();
    assertThat(neighbour).isNotDone();
  }

  /** Turns cost requests: they stop once no other client comes. */
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
        .as("one grant allows 255 hand-overs")
        .isLessThan(10);
  }

  /** Says of others that wait what it is told to say. */
  private static final class Reticent extends ForwardingStore {
    private boolean says;
    private int attempts;

    Reticent(MemoryDatabase database) {
      super(new MemoryStore(database));
    }

    private Grant reticent(Grant grant) {
      return new Grant(grant.revision(), grant.anchor(), grant.lease(), says);
    }

    @Override
    public void start(StoreRuntime runtime, StoreEvents events) {
      super.start(runtime, (StoreEvents) Proxy.newProxyInstance(
          StoreEvents.class.getClassLoader(),
          new Class<?>[] {StoreEvents.class},
          (proxy, method, told) -> {
            for (int i = 0; told != null && i < told.length; i++) {
              told[i] = told[i] instanceof Grant grant ? reticent(grant) : told[i];
            }
            return method.invoke(events, told);
          }));
    }

    @Override
    public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
      attempts++;
      return super.attempt(claim, mode, giveUpAt)
          .thenApply(answer -> answer instanceof Answer.Granted granted
              ? new Answer.Granted(reticent(granted.grant()))
              : answer);
    }

    @Override
    public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
      return super.keep(claims).thenApply(all -> {
        Map<ClaimId, Kept> told = new HashMap<>(all);
        told.replaceAll((id, kept) ->
            kept instanceof Kept.Held held ? new Kept.Held(reticent(held.grant())) : kept);
        return told;
      });
    }

    @Override
    public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
      return super.end(claim, keepFor, lastGiveUp)
          .thenApply(ended -> new Ended(ended.outcome(), ended.isFinal(), says));
    }
  }
}
