// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.AcquireUnknownException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A store that answers its first contact slowly is asked all the same: the attempt's time begins after it. */
class FirstContactTest {
  private static final Duration REQUEST = Duration.ofSeconds(2);
  private static final Duration SLOW = Duration.ofMillis(1900);
  private static final Duration SHORT = Duration.ofMillis(100);

  private final ManualClock clock = new ManualClock();
  private final MemoryDatabase database = new MemoryDatabase(clock);
  private final FaultyStore store = new FaultyStore(new MemoryStore(database));
  private final Holdfast late = client(store);
  private final Holdfast other = client(new FaultyStore(new MemoryStore(database)));

  @AfterEach
  void close() throws Exception {
    clock.whileTimePasses(() -> {
      late.close();
      other.close();
      return null;
    });
  }

  @Test
  void tryAcquireShorterThanTheContact_lockIsHeld_isBusy() throws Exception {
    Hold hold = whileTimePasses(() -> other.lock("job").acquire());
    store.faults().on(Verb.CONNECT).delayReply(SLOW);
    store.faults().on(Verb.ATTEMPT).delayReply(SLOW);
    DistributedLock lock = late.lock("job");
    Optional<Hold> answer = whileTimePasses(() -> lock.tryAcquire(SHORT));
    assertThat(answer).isEmpty();
    assertThat(hold.isValid()).isTrue();
  }

  @Test
  void tryOnce_lockIsHeld_isBusy() throws Exception {
    Hold hold = whileTimePasses(() -> other.lock("job").acquire());
    store.faults().on(Verb.CONNECT).delayReply(SLOW);
    store.faults().on(Verb.ATTEMPT).delayReply(SLOW);
    DistributedLock lock = late.lock("job");
    Optional<Hold> answer = whileTimePasses(() -> lock.tryAcquire());
    assertThat(answer).isEmpty();
    assertThat(hold.isValid()).isTrue();
  }

  /** A short lease makes requests short, but not the first contact. */
  @Test
  void tryAcquireWithAShortLease_lockIsHeld_isBusy() throws Exception {
    Hold hold = whileTimePasses(() -> other.lock("job").acquire());
    store.faults().on(Verb.CONNECT).delayReply(SLOW);
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofMillis(300)).build();
    DistributedLock lock = late.lock("job", brief);
    Optional<Hold> answer = whileTimePasses(() -> lock.tryAcquire(SHORT));
    assertThat(answer).isEmpty();
    assertThat(hold.isValid()).isTrue();
  }

  @Test
  void tryAcquireShorterThanTheContact_lockIsFree_isGranted() throws Exception {
    store.faults().on(Verb.CONNECT).delayReply(SLOW);
    store.faults().on(Verb.ATTEMPT).delayReply(SLOW);
    DistributedLock lock = late.lock("job");
    Optional<Hold> hold = whileTimePasses(() -> lock.tryAcquire(SHORT));
    assertThat(hold).isPresent();
    assertThat(hold.get().remaining()).isPositive();
  }

  @Test
  void tryAcquire_noContact_isUnavailable() {
    store.faults().on(Verb.CONNECT).loseRequest();
    DistributedLock lock = late.lock("job");
    assertThatThrownBy(() -> whileTimePasses(() -> lock.tryAcquire(SHORT)))
        .isInstanceOf(StoreUnavailableException.class);
    assertThat(store.faults().requests(Verb.ATTEMPT)).isZero();
  }

  /** A wait outlives several contacts, and ends within one: nothing was ever sent, so nothing can have been granted. */
  @Test
  void tryAcquireLongerThanTheContact_noContact_isUnavailable() {
    store.faults().on(Verb.CONNECT).loseRequest();
    DistributedLock lock = late.lock("job");
    Duration within = REQUEST.multipliedBy(2).plus(REQUEST.dividedBy(2));
    assertThatThrownBy(() -> whileTimePasses(() -> lock.tryAcquire(within)))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(
            "the store did not answer the first contact within 2 s; check that the server answers other clients");
    assertThat(store.faults().requests(Verb.CONNECT)).isGreaterThan(1);
    assertThat(store.faults().requests(Verb.ATTEMPT)).isZero();
    assertThat(store.faults().requests(Verb.END)).isZero();
  }

  /** What a driver knows only after its contact was given up is told from then on. */
  @Test
  void acquire_causeComesAfterTheContactWasGivenUp_isTold() {
    StoreException refused = new StoreException("Connection refused", Reason.REFUSED, true, null);
    LockStore refusing = connecting(() -> {
      CompletableFuture<Void> answer = new CompletableFuture<>();
      clock.schedule(
          () -> answer.completeExceptionally(refused), REQUEST.plus(SHORT).toNanos());
      return answer;
    });
    Holdfast client = client(refusing);
    DistributedLock lock = client.lock("job");
    assertThatThrownBy(() -> whileTimePasses(() -> lock.tryAcquire()))
        .hasMessageContaining("did not answer the first contact within 2 s");
    clock.advance(SHORT);
    assertThatThrownBy(() -> whileTimePasses(() -> lock.tryAcquire()))
        .hasMessageEndingWith("Connection refused")
        .asInstanceOf(InstanceOfAssertFactories.type(StoreUnavailableException.class))
        // a wait goes on: the store may be another one by now
        .returns(Reason.UNREACHABLE, StoreUnavailableException::reason);
    client.close();
  }

  private LockStore connecting(Supplier<CompletableFuture<Void>> contact) {
    LockStore memory = new MemoryStore(database);
    return (LockStore) Proxy.newProxyInstance(
        LockStore.class.getClassLoader(),
        new Class<?>[] {LockStore.class},
        (proxy, verb, arguments) ->
            verb.getName().equals("connect") ? contact.get() : verb.invoke(memory, arguments));
  }

  /**
   * A try joins a contact that is not answered, and then makes another one, which lasts until the try's time is up; its
   * attempt is not answered either. All of that takes no longer than one contact and one attempt.
   */
  @Test
  void tryOnce_secondContactIsSlow_takesTwoRequestsInAll() {
    store.faults().on(Verb.CONNECT).once().loseRequest();
    store.faults().on(Verb.CONNECT).delayReply(SLOW);
    store.faults().on(Verb.ATTEMPT).loseRequest();
    CompletableFuture<Hold> first = late.lock("other").acquireAsync();
    clock.advance(REQUEST.dividedBy(2));
    CompletableFuture<Optional<Hold>> tried = late.lock("job").tryAcquireAsync();
    clock.advance(REQUEST.multipliedBy(2).minusMillis(1));
    assertThat(store.faults().requests(Verb.CONNECT)).isEqualTo(2);
    assertThat(tried).isNotDone();
    clock.advance(Duration.ofMillis(1));
    assertThat(Await.failure(tried)).isInstanceOf(AcquireUnknownException.class);
    assertThat(first.cancel(false)).isTrue();
  }

  /** What a driver takes to be loaded, before anything was sent, is not the store's time. */
  @Test
  void build_driverThatIsLoadedSlowly_isNoTimeOut() {
    LockStore slow = connecting(() -> {
      clock.advance(REQUEST.multipliedBy(2));
      return CompletableFuture.completedFuture(null);
    });
    Holdfast client = Holdfast.builder()
        .store(slow)
        .ticker(clock)
        .scheduler(clock)
        .requestTimeout(REQUEST)
        .build();
    assertThat(client.lock("job").tryAcquire()).isPresent();
    client.close();
  }

  private <T> T whileTimePasses(Callable<T> call) throws Exception {
    return clock.whileTimePasses(call);
  }

  private Holdfast client(LockStore to) {
    return Holdfast.builder()
        .store(to)
        .ticker(clock)
        .scheduler(clock)
        .requestTimeout(REQUEST)
        .connectLazily()
        .build();
  }
}
