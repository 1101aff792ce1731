// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.DaemonThread;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A session lock that is held, with the connection that holds it. {@link SessionLock} says what that means. It belongs to
 * its handle, not to a thread; thread-safe.
 *
 * <pre>{@code
 * try (SessionHold hold = locks.sessionLock("nightly").acquire()) {
 *   while (printed < files && hold.isValid()) {
 *     printed++; // the next one
 *   }
 * }
 * }</pre>
 */
public final class SessionHold implements AutoCloseable {
  private static final Logger LOG = System.getLogger(SessionHold.class.getName());
  private static final Cleaner CLEANER = Cleaner.create();

  private final SessionWatch watch;
  private final Cleaner.Cleanable forgotten;

  private SessionHold(SessionWatch watch) {
    this.watch = watch;
    this.forgotten = CLEANER.register(this, () -> releaseForgotten(watch));
  }

  static SessionHold of(SessionWatch watch) {
    SessionHold hold = new SessionHold(watch);
    watch.start();
    return hold;
  }

  private static void releaseForgotten(SessionWatch watch) {
    if (!watch.hasEnded()) {
      LOG.log(
          Level.WARNING,
          "the application dropped its hold of lock=" + watch.name()
              + " without releasing it: it is released now");
      // it waits for the database, and the cleaner's one thread serves all
      try {
        new DaemonThread(watch::release, "holdfast-session-forgotten").start();
      } catch (OutOfMemoryError e) {
        // no thread can be made, and this is the only call
        boolean unused = watch.release();
      }
    }
  }

  /**
   * Returns the lock's name.
   *
   * @return as it was given
   */
  public String lockName() {
    return watch.name().name();
  }

  /**
   * Returns whether the lock is held as far as is known here: not released, and the session was there 3 s ago or less, by
   * this machine's clocks. No I/O. False may turn into true again, if this program was paused and its session has
   * survived; after the loss it stays false.
   *
   * @return false: do not rely on it
   */
  public boolean isValid() {
    return watch.isValid();
  }

  /**
   * Returns a future of the loss.
   *
   * @return completes when the loss is noticed, if ever; not by {@link #close}. A copy: what is done to it changes nothing
   */
  public CompletableFuture<@Nullable Void> lost() {
    return watch.lost().copy();
  }

  /**
   * Frees the lock, and gives the connection back to the data source. Waits for the database's answer, for 2 s at most (4 s
   * if a probe is under way); if there is none, the connection is closed without a word, and the lock is free as soon as the
   * server notices. An interrupt does not end the wait, and is not lost.
   *
   * @return true: it was held until now; false: it was lost or released before, or the database did not say
   */
  public boolean release() {
    boolean released = watch.release();
    forgotten.clean();
    return released;
  }

  /** As {@link #release}, for try-with-resources. */
  @Override
  public void close() {
    boolean unused = release();
  }
}
