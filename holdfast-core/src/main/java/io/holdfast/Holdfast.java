// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import io.holdfast.engine.EngineBuilder;
import io.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

/**
 * A client of one store: makes locks, keeps their leases. Make one per process and store, and close it at the end.
 *
 * <h2>Threads and memory</h2>
 *
 * Thread-safe. One timer thread keeps all leases; callbacks run on their own executor.
 *
 * <h2>Failure</h2>
 *
 * See {@link DistributedLock}.
 *
 * <h2>Clones</h2>
 *
 * A client that is copied with its process (an image that is restored more than once: SnapStart, CRaC, CRIU, a virtual machine's
 * copy) has the other one's id: the two do not exclude each other. Close it before, and make another one after.
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
   * Returns a lock with the default options. Cheap, no I/O; need not be kept or closed.
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
   * Returns the operator's view of the store.
   *
   * @return list, inspect, force release
   */
  LockAdmin admin();

  /**
   * Returns what this store gives. No I/O.
   *
   * @return the guarantees; {@link Guarantees#require} fails at start-up
   */
  Guarantees guarantees();

  /**
   * Closes the client: first every hold becomes invalid, then waiting acquisitions fail, then the holds are released in
   * the store, for at most {@code requestTimeout}; what the store has not confirmed by then ends with its lease. A store
   * that was given ({@link Builder#store(LockStore)}) is closed too: it belongs to this client. An interrupt does not
   * stop it; the flag stays. A second call does nothing.
   */
  @Override
  void close();

  /** Makes a {@link Holdfast}. Not thread-safe; each setter replaces what was set before. */
  interface Builder {
    /**
     * Sets the store by address. Required, unless a store is given.
     *
     * @param uri see {@link Holdfast#connect}
     * @return this
     */
    Builder store(String uri);

    /**
     * Sets the store. It is started and closed by the client.
     *
     * @param store a store that was not started yet
     * @return this
     */
    Builder store(LockStore store);

    /**
     * Sets the options of {@link Holdfast#lock(String)}. Default {@link LockOptions#defaults()}.
     *
     * @param options the options
     * @return this
     */
    Builder defaultOptions(LockOptions options);

    /**
     * Sets the name that holders are shown under. Default {@code java}.
     *
     * @param name at most 100 characters, no control characters
     * @return this
     */
    Builder clientName(String name);

    /**
     * Sets how long one request may take. More tolerates slower stores; less notices a silent one sooner. Never more
     * than a third of the lease concerned. Default 2 s.
     *
     * @param timeout positive
     * @return this
     */
    Builder requestTimeout(Duration timeout);

    /**
     * Sets how long a wait without a limit goes on while the store fails without interruption. If the store says when it can
     * serve again, the wait goes on until then and for this time after it, or for this time after it last said so. Default
     * 30 s.
     *
     * @param retryFor zero or positive
     * @return this
     */
    Builder storeRetryFor(Duration retryFor);

    /**
     * Sets where callbacks and futures' dependents run. Default: daemon threads of its own, made when needed, up to 64 for
     * losses and events, and up to 64 for what depends on acquisitions. If 64 dependents each wait for another lock, no thread
     * is left to complete that lock's future: compose futures instead, or set an executor without a limit.
     *
     * @param executor must not run tasks on the calling thread; is not closed
     * @return this
     */
    Builder callbackExecutor(Executor executor);

    /**
     * Adds a listener.
     *
     * @param listener told of every event
     * @return this
     */
    Builder listener(LockListener listener);

    /**
     * Sets the clocks. For tests.
     *
     * @param ticker the clocks
     * @return this
     */
    Builder ticker(Ticker ticker);

    /**
     * Sets the timer. For tests.
     *
     * @param scheduler the timer; is not closed
     * @return this
     */
    Builder scheduler(Scheduler scheduler);

    /**
     * Sets the source of jitter and of the client's id. For tests; the default cannot be guessed. Two clients that draw
     * the same numbers have the same id: each takes the other's claims for its own, and they do not exclude each other.
     *
     * @param random the generator; thread-safe
     * @return this
     */
    Builder random(RandomGenerator random);

    /**
     * Contacts the store at the first use instead of in {@link #build()}, so that a service can start before its store.
     *
     * @return this
     */
    Builder connectLazily();

    /**
     * Makes the client and, unless {@link #connectLazily()}, contacts the store.
     *
     * @return the client
     * @throws ConfigurationException if the store is missing or unknown, or a setting is wrong
     * @throws StoreUnavailableException if the store cannot be reached or refuses
     */
    @CheckReturnValue
    Holdfast build();
  }
}
