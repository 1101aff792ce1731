// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.log;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * Makes garbage while tests run, so that the JVM collects it many times a second: a hold that a test has let go of is then
 * released in that test, each time, and not in one run of a hundred.
 *
 * <p>Works where JUnit finds extensions by itself ({@code junit.jupiter.extensions.autodetection.enabled=true}) and
 * {@code holdfast.garbage=made}, another configuration parameter of JUnit's, asks for it; elsewhere it does nothing. It takes
 * a fifth of a core. With {@code -Xmn1m} the JVM collects some hundred times a second.
 */
public final class Garbage implements BeforeAllCallback {
  private static final Namespace OURS = Namespace.create(Garbage.class);
  private static final int PIECE = 1 << 16;
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

  /** For the service loader. */
  public Garbage() {}

  @Override
  public void beforeAll(ExtensionContext context) {
    if (context
        .getConfigurationParameter("holdfast.garbage")
        .filter("made"::equals)
        .isPresent()) {
      // one for all classes of the JVM, closed after the last of them
      context.getRoot().getStore(OURS).computeIfAbsent(Maker.class, key -> new Maker());
    }
  }

  /** The thread that makes it, until it is closed. */
  private static final class Maker implements AutoCloseable {
    private final Thread thread = new Thread(this::make, "holdfast-garbage");

    Maker() {
      thread.setDaemon(true);
      thread.start();
    }

    private void make() {
      byte[] piece = {};
      // read, so that it is made
      while (piece.length <= PIECE && !Thread.currentThread().isInterrupted()) {
        piece = new byte[PIECE];
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }

    @Override
    public void close() {
      thread.interrupt();
    }
  }
}
