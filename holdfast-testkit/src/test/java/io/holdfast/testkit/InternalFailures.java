// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Collects what the engine reports as failures of its own: there are to be none. */
final class InternalFailures extends Handler implements AutoCloseable {
  private final Logger logger = Logger.getLogger("io.holdfast");
  private final @Nullable Level before = logger.getLevel();
  private final List<String> seen = new CopyOnWriteArrayList<>();

  /** Listens until it is closed. */
  InternalFailures() {
    // other tests may have silenced the engine
    logger.setLevel(Level.SEVERE);
    logger.addHandler(this);
  }

  List<String> seen() {
    return List.copyOf(seen);
  }

  @Override
  public void publish(LogRecord record) {
    if (record.getLevel().intValue() >= Level.SEVERE.intValue()) {
      seen.add(record.getMessage() + ": " + record.getThrown());
    }
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
    logger.setLevel(before);
  }
}
