// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import io.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.Set;

/**
 * One instance of a store, made for one test, or only to be asked what it can do.
 *
 * <p>What it can do is declared by {@link #capabilities()}. For each capability there is a suite, which a store that does
 * not declare it skips, with that as the reason; the contract checks that such a store does not promise it either.
 */
public interface StoreUnderTest extends AutoCloseable {
  /**
   * Returns the version of what does the storing.
   *
   * @return for example {@code SQLite 3.50.4}
   */
  String version();

  /**
   * Returns how it was provided.
   *
   * @return for example {@code in this JVM}, {@code child process}, {@code container mysql:8.4}
   */
  String provision();

  /**
   * Declares what the suites may ask for.
   *
   * @return the capabilities
   */
  Set<Capability> capabilities();

  /**
   * Opens the store for one more client. All that one instance opens share what is stored.
   *
   * @return a store that was not started yet
   */
  LockStore open();

  /**
   * Returns an address by which another process reaches what is stored; {@link Capability#PROCESSES}.
   *
   * @return the address
   */
  default String uri() {
    throw new UnsupportedOperationException("this store does not declare PROCESSES");
  }

  /**
   * Says whether the store notices that a process of this machine has died, and frees its locks before their leases end.
   *
   * @return false, unless the store does
   */
  default boolean noticesDeath() {
    return false;
  }

  /** Stops the store after all clients were closed, and starts it again; {@link Capability#RESTART}. */
  default void restart() {
    throw new UnsupportedOperationException("this store does not declare RESTART");
  }

  /** Makes every request hang until {@link #resume()}; {@link Capability#STALL}. */
  default void stall() {
    throw new UnsupportedOperationException("this store does not declare STALL");
  }

  /** Ends {@link #stall()}. */
  default void resume() {
    throw new UnsupportedOperationException("this store does not declare STALL");
  }

  /**
   * Returns the lease that a test gives to a waiter which it then kills. Where a dead waiter counts as alive until its
   * session has ended, which lasts as long as its lease, this is short enough to wait for.
   *
   * @return 30 s, unless the store says otherwise
   */
  default Duration leaseOfKilledWaiter() {
    return Duration.ofSeconds(30);
  }

  /**
   * Throws away what was stored. All clients of this test are closed by then. Where tests run side by side, others may be on the
   * same server: what is thrown away is under a prefix of this instance's own, or {@link
   * io.holdfast.testkit.process.Occupancy} says when no test is there.
   */
  @Override
  void close();
}
