// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import io.holdfast.engine.EngineBuilder;
import io.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

/**
 * A client of one store: it makes locks, and renews the leases of those that are held. Make one per process and store,
 * and close it when the process ends.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.connect("memory:"); // or redis://localhost, sqlite:locks.db, ...
 * DistributedLock lock = holdfast.lock("order:42");
 * try (Hold hold = lock.acquire()) {
 *   orders.save(order, hold.token());
 * }
 * holdfast.close(); // when the program ends
 * }</pre>
 *
 * <p>{@link #builder()} sets more than the address: a store on the application's own data source or driver, options for
 * all locks, the name that operators read.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.builder()
 *     .store("memory:")
 *     .clientName("billing")
 *     .defaultOptions(LockOptions.builder().leaseFor(Duration.ofSeconds(10)).build())
 *     .build();
 * }</pre>
 *
 * <h2>Threads and memory</h2>
 *
 * Thread-safe. One timer thread renews all leases; callbacks run on an executor of their own.
 *
 * <h2>Failure</h2>
 *
 * See {@link DistributedLock}.
 *
 * <h2>Clones</h2>
 *
 * A client that is copied with its process (by SnapStart, CRaC or CRIU, where an image is restored more than once, or with a
 * virtual machine) has the same id as the original, so that the two do not exclude each other. Close the client before the
 * copy is made, and make another one afterwards.
 */
public interface Holdfast extends AutoCloseable {
  /**
   * Connects to the store that an address names, with default settings.
   *
   * @param uri for example {@code redis://localhost:6379}, {@code sqlite:locks.db}, {@code memory:}; options of
   *     Holdfast are {@code holdfast.*} query parameters
   * @return the client
   * @throws ConfigurationException if no store on the class path serves the scheme (the message names the artifact to
   *     add), or a parameter is unknown or wrong
   * @throws StoreUnavailableException if the store cannot be reached or refuses
   */
  @CheckReturnValue
  static Holdfast connect(String uri) {
    return builder().store(uri).build();
  }

  /**
   * Starts to configure a client.
   *
   * @return a new builder
   */
  static Builder builder() {
    return new EngineBuilder();
  }

  /**
   * Returns a lock with the default options. This is cheap and does no I/O; the lock need not be kept or closed.
   *
   * @param name 1 to 512 bytes of UTF-8 without control characters; two names are one lock only if their bytes are
   *     equal
   * @return the lock
   * @throws IllegalArgumentException if it is no valid name
   */
  @CheckReturnValue
  DistributedLock lock(String name);

  /**
   * Returns a lock with options of its own.
   *
   * @param name as {@link #lock(String)}
   * @param options the options
   * @return the lock
   * @throws IllegalArgumentException if it is no valid name, or the lease is outside what the store can keep
   * @throws ConfigurationException if the store cannot be fair and that was asked for
   */
  @CheckReturnValue
  DistributedLock lock(String name, LockOptions options);

  /**
   * Returns the operator's view of the store: it lists and shows locks, and can end another client's hold.
   *
   * @return the view
   */
  LockAdmin admin();

  /**
   * Returns what this store gives and what it does not. This does no I/O.
   *
   * @return the guarantees; {@link Guarantees#require} fails at start-up
   */
  Guarantees guarantees();

  /**
   * Closes the client. It takes up to {@code requestTimeout} (2 s by default) if the store does not answer, and then the
   * time in which the store closes its own connections.
   *
   * <p>First every hold becomes invalid, then waiting acquisitions fail, then the holds are released in the store. A hold
   * whose release the store has not confirmed within {@code requestTimeout} ends with its lease. A store that was given
   * ({@link Builder#store(LockStore)}) is closed too, because it belongs to this client. An interrupt does not stop the
   * closing, and the thread's interrupt flag stays set. A second call does nothing.
   */
  @Override
  void close();

  /**
   * Makes a {@link Holdfast}. Not thread-safe. Each setter replaces what was set before, except {@link #listener}; one that is
   * not called leaves the default that it names.
   */
  interface Builder {
    /**
     * Sets the store by its address. There is no default: either this or {@link #store(LockStore)} is required.
     *
     * @param uri see {@link Holdfast#connect}
     * @return this
     */
    Builder store(String uri);

    /**
     * Sets the store. This is how locks are kept through what the application has already: {@code
     * JdbcStore.using(dataSource)}, {@code RedisStore.using(client)}, {@code RedlockStore.using(clients)}, {@code
     * ZooKeeperStore.using(curator)} and {@code EtcdStore.using(client)}. There is no default: either this or {@link
     * #store(String)} is required.
     *
     * @param store a store that was not started yet; the client starts it, and closes it when the client is closed. A data
     *     source or driver that the application has given to the store stays open
     * @return this
     */
    Builder store(LockStore store);

    /**
     * Sets the options of locks that {@link Holdfast#lock(String)} makes. Default: {@link LockOptions#defaults()}, a lease
     * of 30 s that is renewed.
     *
     * @param options the options
     * @return this
     */
    Builder defaultOptions(LockOptions options);

    /**
     * Sets the name under which operators and the message of an {@link AcquireTimeoutException} show what this client
     * holds. Default: {@code java}.
     *
     * @param name at most 100 characters, no control characters
     * @return this
     */
    Builder clientName(String name);

    /**
     * Sets how long one request to the store may take. A longer time tolerates slower stores; a shorter one notices a
     * silent store sooner. A request never takes longer than a third of the lease that it is about. Default: 2 s.
     *
     * @param timeout a millisecond or more
     * @return this
     */
    Builder requestTimeout(Duration timeout);

    /**
     * Sets how long {@link #build()} waits until the store can be used. That takes longer than a request: the driver's classes
     * are loaded, the connection is made, and the tables may be created. After {@link #connectLazily()} this has no effect: the
     * first contact then takes as long as a request may. Default: five times {@code requestTimeout}, and at least a second.
     *
     * @param timeout a millisecond or more
     * @return this
     */
    Builder connectTimeout(Duration timeout);

    /**
     * Sets how long a wait without a limit goes on while every request to the store fails. If the store says when it can
     * serve again, the wait goes on until then and for this time after it, or for this time after it last said so.
     * Default: 30 s.
     *
     * @param retryFor zero or positive
     * @return this
     */
    Builder storeRetryFor(Duration retryFor);

    /**
     * Sets where callbacks and the dependents of futures run. Default: daemon threads of the client, made when they are
     * needed, up to 64 for losses and events, and up to 64 for what depends on acquisitions. If 64 dependents each wait for
     * another lock, no thread is left to complete that lock's future: compose futures instead, or set an executor without a
     * limit.
     *
     * @param executor must not run tasks on the calling thread; is not closed
     * @return this
     */
    Builder callbackExecutor(Executor executor);

    /**
     * Adds a listener to those that were added before. Default: none.
     *
     * @param listener told of every event
     * @return this
     */
    Builder listener(LockListener listener);

    /**
     * Sets the clocks; a test sets {@code ManualClock} of the test kit. Default: {@link Ticker#system()}.
     *
     * @param ticker the clocks
     * @return this
     */
    Builder ticker(Ticker ticker);

    /**
     * Sets the timer; a test sets {@code ManualClock} of the test kit. Default: a daemon thread of the client.
     *
     * @param scheduler the timer; it is not closed with the client
     * @return this
     */
    Builder scheduler(Scheduler scheduler);

    /**
     * Sets the source of the client's id and of jitter, for tests. Default: a secure generator for the id, whose numbers
     * cannot be guessed, and a fast one for jitter. Two clients that draw the same numbers have the same id: each takes the
     * other's claims for its own, and they do not exclude each other.
     *
     * @param random the generator, which must be thread-safe
     * @return this
     */
    Builder random(RandomGenerator random);

    /**
     * Contacts the store at the first use, so that a service can start before its store. Default: the store is contacted
     * in {@link #build()}.
     *
     * @return this
     */
    Builder connectLazily();

    /**
     * Makes the client and contacts the store, unless {@link #connectLazily()} was set. If the store does not answer, that
     * takes up to {@code connectTimeout}: by default 10 s.
     *
     * @return the client
     * @throws ConfigurationException if the store is missing or unknown, or a setting is wrong
     * @throws StoreUnavailableException if the store cannot be reached or refuses
     */
    @CheckReturnValue
    Holdfast build();
  }
}
