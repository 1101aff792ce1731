// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.AcquireUnknownException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.Ticker;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Faults;
import io.holdfast.testkit.FaultyStore;
import io.holdfast.testkit.log.Announcements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * What all suites share: a store of its own for every test, clients that are closed after it, and the check that ends
 * every test: when all clients are gone, the store holds no lock and no waiter of it (P4).
 *
 * <p>Tests run side by side, where JUnit is told to run any so: they wait for leases most of their time.
 */
@Timeout(120)
@ExtendWith(ContractExtension.class)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = StoreContract.SHARED, mode = ResourceAccessMode.READ)
abstract class Contract {
  /** Long enough that no pause of a busy machine ends it. */
  static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofSeconds(30)).build();

  /** A request time-out that a test can wait for; the first contact may take five times as long. */
  static final Duration IMPATIENT = Duration.ofMillis(750);

  /** A request time-out that no pause of a busy machine exceeds; the longest for which a store may lend a connection. */
  private static final Duration PATIENT = Duration.ofSeconds(5);

  /** A renewed lease of this length is lived through by a machine that stands still for three seconds. */
  private static final Duration LIVED_THROUGH = Duration.ofSeconds(6);

  private static final int RELEASES = 3;
  private static final int LOGINS = 3;

  /** A wait that only a failing test spends. */
  static final Duration PLENTY = Await.PATIENCE;

  private static final AtomicLong NAMES = new AtomicLong();

  private final List<Holdfast> clients = new ArrayList<>();
  private final List<Faults> faults = new ArrayList<>();
  private final List<Task<?>> tasks = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // set before each test
  private StoreUnderTest store;

  @SuppressWarnings("NullAway.Init") // set before each test
  private Holdfast observer;

  @SuppressWarnings("NullAway.Init") // set before each test
  private Announcements announcements;

  private boolean observerIsClosed;

  /** A lock name that no other test uses, and no other's begins with it: tests run side by side on one server. */
  @SuppressWarnings("NullAway.Init") // set before each test
  String name;

  /** Takes the store of one test, before anything else is done in it. */
  final void begin(StoreUnderTest fresh, String test, Announcements log) {
    name = NAMES.incrementAndGet() + "-" + test;
    announcements = log;
    announcements.locksBeginWith(name);
    // Where the machine stands still for longer than a request has, whatever the test does.
    mayWarn("did not confirm", "did not end in time at close");
    store = fresh;
    observer = connected(() ->
        Holdfast.builder().store(store.open()).clientName("observer").requestTimeout(PATIENT));
  }

  /** Connects. A machine that stands still for longer than a driver has for a login is no reason for a test to fail. */
  private static Holdfast connected(Supplier<Holdfast.Builder> builder) {
    for (int i = 1; ; i++) {
      try {
        return builder.get().build();
      } catch (StoreUnavailableException e) {
        if (i == LOGINS || e.reason() != Reason.UNREACHABLE) {
          throw e;
        }
      }
    }
  }

  /** Closes the clients, and looks whether they left anything in the store. */
  final void end() {
    faults.forEach(Faults::heal);
    clients.forEach(Holdfast::close);
    tasks.forEach(Task::join);
    try (Holdfast looks = observerIsClosed ? client() : observer) {
      Await.until(
          "nothing is left in the store (there is " + looks.admin().list(name) + ")",
          () -> looks.admin().list(name).stream().noneMatch(Contract::isSomething));
    }
  }

  private static boolean isSomething(LockInfo info) {
    return info.isTaken() || info.waiters().known() > 0;
  }

  /** Announces warnings that may come in this test. */
  final void mayWarn(String... messages) {
    announcements.mayWarn(messages);
  }

  final StoreUnderTest store() {
    return store;
  }

  /** Opens a client, which is closed at the end of the test. */
  final Holdfast client() {
    return client(builder -> {});
  }

  /** Opens a client with settings. */
  final Holdfast client(Consumer<Holdfast.Builder> settings) {
    Holdfast client = connected(() -> {
      Holdfast.Builder builder = Holdfast.builder().store(store.open()).requestTimeout(PATIENT);
      settings.accept(builder);
      return builder;
    });
    clients.add(client);
    return client;
  }

  /** Opens a client behind a network that can be made to fail. */
  final Faulty faulty(Consumer<Holdfast.Builder> settings) {
    AtomicReference<@Nullable FaultyStore> last = new AtomicReference<>();
    Holdfast client = connected(() -> {
      FaultyStore fresh = new FaultyStore(store.open());
      last.set(fresh);
      Holdfast.Builder builder = Holdfast.builder().store(fresh).requestTimeout(PATIENT);
      settings.accept(builder);
      return builder;
    });
    return opened(client, Objects.requireNonNull(last.get()));
  }

  /** Opens a client behind a network that fails from the beginning. */
  final Faulty faulty(Consumer<Holdfast.Builder> settings, Consumer<Faults> script) {
    FaultyStore faulty = new FaultyStore(store.open());
    script.accept(faulty.faults());
    Holdfast.Builder builder = Holdfast.builder().store(faulty).requestTimeout(PATIENT);
    settings.accept(builder);
    return opened(builder.build(), faulty);
  }

  private Faulty opened(Holdfast client, FaultyStore faulty) {
    clients.add(client);
    faults.add(faulty.faults());
    return new Faulty(client, faulty.faults(), faulty);
  }

  /**
   * Opens a client behind a network that can be made to fail, with short time-outs: who wants a hold from it waits for
   * {@link #PLENTY}, or a machine that stands still is a silent store.
   */
  final Faulty faulty() {
    return impatient(Duration.ofMillis(250));
  }

  /** The same, for one that goes on for so long before it says that the store cannot be reached. */
  final Faulty impatient(Duration retryFor) {
    return faulty(builder -> builder.requestTimeout(IMPATIENT).storeRetryFor(retryFor));
  }

  /** Closes all clients, so that nobody uses the store any more. */
  final void closeClients() {
    clients.forEach(Holdfast::close);
    clients.clear();
    observer.close();
    observerIsClosed = true;
  }

  /** Does something on another thread. */
  final <T> Task<T> spawn(String what, Callable<T> work) {
    Task<T> task = new Task<>(name + ": " + what, work);
    tasks.add(task);
    return task;
  }

  /** Acquires on another thread, and leaves the hold to the test. */
  final Task<Hold> spawnAcquire(DistributedLock lock) {
    return spawn("acquire", lock::acquire);
  }

  /** Looks into the store, as an operator does, through a client of its own. */
  final Optional<LockInfo> inStore() {
    return inStore(name);
  }

  final Optional<LockInfo> inStore(String lockName) {
    return observer.admin().inspect(lockName);
  }

  /** Says whether the store has the lock taken. */
  final boolean isTaken() {
    return inStore().filter(LockInfo::isTaken).isPresent();
  }

  /** Says whether a try finds the lock taken; if not, gives back what it got. */
  static boolean isRefused(DistributedLock lock) {
    Optional<Hold> got = lock.tryAcquire();
    got.ifPresent(Hold::release);
    return got.isEmpty();
  }

  /**
   * Releases a hold of a brief lease, and says whether the store had it still. It has not, if that is not known: a request
   * never takes longer than a third of its lease, and a machine that stands still gets no answer in that time.
   */
  static boolean releases(Hold hold) {
    return released(hold).orElse(false);
  }

  /**
   * Releases a hold of a client whose requests have little time, which the store must confirm. Where a machine that stands
   * still got no answer in that time, the lock is taken and released once more.
   */
  static void assertReleases(DistributedLock lock, Hold held) throws InterruptedException {
    Optional<Boolean> released = released(held);
    for (int i = 1; i < RELEASES && released.isEmpty(); i++) {
      released = released(lock.acquire(PLENTY));
    }
    assertEquals(Optional.of(true), released);
  }

  /** Releases, and returns what the store said; nothing if no answer came in time. */
  private static Optional<Boolean> released(Hold hold) {
    try {
      return Optional.of(hold.release());
    } catch (StoreUnavailableException e) {
      if (e.reason() != Reason.UNREACHABLE) {
        throw e;
      }
      return Optional.empty();
    }
  }

  /**
   * Tries once; nothing if no answer came in time. A try never takes longer than a third of its lease, so that one for a
   * brief lease may have to be made again.
   */
  static <T> Optional<T> ifAnswered(Supplier<Optional<T>> tries) {
    try {
      return tries.get();
    } catch (AcquireUnknownException | StoreUnavailableException e) {
      return Optional.empty();
    }
  }

  /** Waits until the store has the lock neither taken nor waited for. */
  final void awaitNothingInStore() {
    Await.until("the store has nothing of \"" + name + '"', () -> {
      try {
        return inStore().filter(Contract::isSomething).isEmpty();
      } catch (StoreUnavailableException e) {
        // it may have stood still: looked at once more
        return false;
      }
    });
  }

  /** Reads the monotonic clock. */
  static long nanoTime() {
    return Ticker.system().nanos();
  }

  /** A lease that a test can wait for: 0.4 s, or the shortest that the store can keep. */
  final Duration briefLease() {
    // It ends while the machine stands still, whatever the test does; a hold that is left to end may be collected before.
    mayWarn("hold lost: LEASE_ENDED", "garbage-collected");
    return longer(observer.guarantees().shortestLease(), Duration.ofMillis(400));
  }

  /** A fixed lease that a test can wait for. */
  final LockOptions brief() {
    return LockOptions.builder().leaseFor(briefLease()).renew(false).build();
  }

  /** A short lease that is renewed: long enough that a machine which stands still does not lose it. */
  final LockOptions briefRenewed() {
    return LockOptions.builder()
        .leaseFor(longer(briefLease().multipliedBy(6), LIVED_THROUGH))
        .build();
  }

  /** A renewed lease for a test that waits for its end, and that does not mind if it comes by itself. */
  final LockOptions endingRenewed() {
    return LockOptions.builder().leaseFor(briefLease().multipliedBy(3)).build();
  }

  static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  /** The client that {@link #inStore()} looks through. */
  final Holdfast observer() {
    return observer;
  }

  /** A client, and what goes wrong with it. */
  record Faulty(Holdfast holdfast, Faults faults, FaultyStore store) {
    DistributedLock lock(String name, LockOptions options) {
      return holdfast.lock(name, options);
    }
  }
}
