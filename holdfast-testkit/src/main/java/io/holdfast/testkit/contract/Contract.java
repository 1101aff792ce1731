// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Faults;
import io.holdfast.testkit.FaultyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/**
 * What all suites share: a store of its own for every test, clients that are closed after it, and the check that ends
 * every test: when all clients are gone, the store holds no lock and no waiter (P4).
 */
@Timeout(120)
public abstract class Contract {
  /** Long enough that no pause of a busy machine ends it. */
  static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofSeconds(30)).build();

  /** A request time-out that a test can wait for, and that the first contact of a busy machine does not exceed. */
  static final Duration IMPATIENT = Duration.ofMillis(500);

  /** A wait that only a failing test spends. */
  static final Duration PLENTY = Await.PATIENCE;

  private static final AtomicLong NAMES = new AtomicLong();

  private final Supplier<? extends StoreUnderTest> maker;
  private final List<Holdfast> clients = new ArrayList<>();
  private final List<Faults> faults = new ArrayList<>();
  private final List<Task<?>> tasks = new ArrayList<>();
  private StoreUnderTest store;
  private Holdfast observer;
  private boolean observerIsClosed;

  /** A lock name that no other test uses. */
  String name;

  /**
   * Makes a suite.
   *
   * @param maker makes a fresh, empty instance of the store, for each test
   */
  @SuppressWarnings("NullAway.Init")
  protected Contract(Supplier<? extends StoreUnderTest> maker) {
    this.maker = maker;
  }

  /**
   * Makes the store of one test.
   *
   * @param test what runs
   */
  @BeforeEach
  void openStore(TestInfo test) {
    name =
        test.getTestMethod().map(m -> m.getName()).orElse("test") + "-" + NAMES.incrementAndGet();
    store = maker.get();
    Matrix.began(getClass(), store);
    observer = Holdfast.builder().store(store.open()).clientName("observer").build();
  }

  /** Closes the clients, looks whether they left anything in the store, and throws the store away. */
  @AfterEach
  void closeStore() {
    try {
      faults.forEach(Faults::heal);
      clients.forEach(Holdfast::close);
      tasks.forEach(Task::join);
      try (Holdfast looks = observerIsClosed ? client() : observer) {
        Await.until(
            "nothing is left in the store (there is " + looks.admin().list("") + ")",
            () -> looks.admin().list("").stream().noneMatch(Contract::isSomething));
      }
    } finally {
      store.close();
    }
  }

  private static boolean isSomething(LockInfo info) {
    return info.isTaken() || info.waiters() > 0;
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
    Holdfast.Builder builder = Holdfast.builder().store(store.open());
    settings.accept(builder);
    Holdfast client = builder.build();
    clients.add(client);
    return client;
  }

  /** Opens a client behind a network that can be made to fail. */
  final Faulty faulty(Consumer<Holdfast.Builder> settings) {
    return faulty(settings, script -> {});
  }

  /** Opens a client behind a network that fails from the beginning. */
  final Faulty faulty(Consumer<Holdfast.Builder> settings, Consumer<Faults> script) {
    FaultyStore faulty = new FaultyStore(store.open());
    script.accept(faulty.faults());
    Holdfast.Builder builder = Holdfast.builder().store(faulty);
    settings.accept(builder);
    Holdfast client = builder.build();
    clients.add(client);
    faults.add(faulty.faults());
    return new Faulty(client, faulty.faults(), faulty);
  }

  /** Opens a client behind a network that can be made to fail, with short time-outs. */
  final Faulty faulty() {
    return faulty(
        builder -> builder.requestTimeout(IMPATIENT).storeRetryFor(Duration.ofMillis(250)));
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

  /** Waits until the store has the lock neither taken nor waited for. */
  final void awaitNothingInStore() {
    Await.until(
        "the store has nothing of \"" + name + "\" (it has " + inStore() + ")",
        () -> inStore().filter(Contract::isSomething).isEmpty());
  }

  /** Reads the monotonic clock. */
  static long nanoTime() {
    return Ticker.system().nanos();
  }

  /** A lease that a test can wait for: 0.4 s, or the shortest that the store can keep. */
  final Duration briefLease() {
    Duration shortest = observer.guarantees().shortestLease();
    Duration wanted = Duration.ofMillis(400);
    return shortest.compareTo(wanted) > 0 ? shortest : wanted;
  }

  /** A fixed lease that a test can wait for. */
  final LockOptions brief() {
    return LockOptions.builder().leaseFor(briefLease()).renew(false).build();
  }

  /** A short lease that is renewed: long enough that a machine which stands still for a second does not lose it. */
  final LockOptions briefRenewed() {
    return LockOptions.builder().leaseFor(briefLease().multipliedBy(6)).build();
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
