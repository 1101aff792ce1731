// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Deletes rows of locks that nobody has used for the retention, and those of waiters that died: one process an hour, in
 * small steps.
 */
final class JdbcCleaner {
  private static final System.Logger LOG = System.getLogger(JdbcCleaner.class.getName());
  private static final long EVERY_US = 3_600_000_000L;
  private static final int SCAN_AT_ONCE = 1000;
  private static final int DELETE_AT_ONCE = 100;

  private final JdbcContext context;
  private final JdbcDialect dialect;
  private final JdbcLane lane;
  private final AtomicBoolean cleaning = new AtomicBoolean();

  JdbcCleaner(JdbcContext context, JdbcLane lane) {
    this.context = context;
    this.dialect = context.dialect();
    this.lane = lane;
  }

  /** Begins; a second call does nothing. */
  void cleanFromNowOn() {
    if (cleaning.compareAndSet(false, true)) {
      clean();
    }
  }

  private void clean() {
    step(() -> {
      if (lane.call(context.now(), session -> dialect.mayClean(session, EVERY_US))) {
        step(this::deleteDeadWaiters);
        step(() -> deleteOld(""));
      }
    });
    // a process's own offset, so that those that were started together do not come together
    long offsetSeconds = Math.floorMod(context.runtime().client().hashCode(), 60);
    context
        .runtime()
        .scheduler()
        .schedule(
            () -> {
              if (!lane.isClosed()) {
                clean();
              }
            },
            EVERY_US * 1000 + offsetSeconds * 1_000_000_000L);
  }

  private void step(Runnable some) {
    try {
      lane.execute(() -> {
        try {
          some.run();
        } catch (RuntimeException e) {
          LOG.log(Level.DEBUG, "store=" + context.store() + " cleaning failed, later again", e);
        }
      });
    } catch (RejectedExecutionException e) {
      LOG.log(Level.TRACE, "store={0} closed, no cleaning", context.store());
    }
  }

  private void deleteDeadWaiters() {
    int deleted =
        lane.call(context.now(), session -> dialect.deleteDeadWaiters(session, DELETE_AT_ONCE));
    if (deleted > 0) {
      step(this::deleteDeadWaiters);
    }
  }

  private void deleteOld(String after) {
    long retentionUs = context.options().retention().toNanos() / 1000;
    JdbcDialect.Scan scan = lane.call(
        context.now(), session -> dialect.scan(session, after, retentionUs, SCAN_AT_ONCE));
    for (int i = 0; i < scan.old().size(); i += DELETE_AT_ONCE) {
      List<String> names =
          scan.old().subList(i, Math.min(i + DELETE_AT_ONCE, scan.old().size()));
      step(() -> {
        int unused =
            lane.call(context.now(), session -> dialect.delete(session, names, retentionUs));
      });
    }
    if (!scan.last().isEmpty()) {
      step(() -> deleteOld(scan.last()));
    }
  }
}
