// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** How much an SQL server has to do while threads of one client wait for locks that another client has. */
final class IdleWaiters {
  private static final int NAMES = 16;

  /** PostgreSQL's sessions tell what they did once a second at most. */
  private static final int SETTLE_MILLIS = 2500;

  private final Scale scale;
  private final String uri;
  private final SqlServer server;
  private final SqlKind kind;

  IdleWaiters(Scale scale, String uri, SqlServer server, SqlKind kind) {
    this.scale = scale;
    this.uri = uri;
    this.server = server;
    this.kind = kind;
  }

  List<Figure> figures() throws Exception {
    return List.of(
        Figure.of(Peers.US, perSecond(Peers.US)).noting(unit()),
        Figure.of(SqlPeers.SPRING, perSecond(SqlPeers.SPRING)).noting(unit()));
  }

  /** What the server was asked until now, by its name. */
  Map<String, Long> counted() {
    return Map.of(unit(), asked());
  }

  private String unit() {
    return kind == SqlKind.POSTGRESQL ? "transactions" : "statements";
  }

  private double perSecond(String peer) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2 * NAMES);
    CountDownLatch held = new CountDownLatch(NAMES);
    CountDownLatch free = new CountDownLatch(1);
    try (Peers holders = Peers.of(uri);
        Peers waiters = Peers.of(uri)) {
      List<Future<?>> tasks = new ArrayList<>();
      for (int i = 0; i < NAMES; i++) {
        Contention.Guard lock = holders.get(peer).lock("idle" + i);
        tasks.add(threads.submit(() -> {
          lock.run(() -> {
            held.countDown();
            await(free, 60_000);
          });
          return null;
        }));
      }
      await(held, 20_000);
      for (int i = 0; i < NAMES; i++) {
        Contention.Guard lock = waiters.get(peer).lock("idle" + i);
        tasks.add(threads.submit(() -> {
          lock.run(() -> {});
          return null;
        }));
      }
      CountDownLatch never = new CountDownLatch(1);
      await(never, Math.min(SETTLE_MILLIS, 10 * scale.trial().toMillis()));
      long before = asked();
      long millis = 10 * scale.trial().toMillis();
      await(never, millis);
      long after = asked();
      free.countDown();
      for (Future<?> task : tasks) {
        task.get();
      }
      return (after - before) * 1e3 / millis;
    } finally {
      threads.shutdownNow();
    }
  }

  private static void await(CountDownLatch latch, long millis) {
    try {
      if (!latch.await(millis, TimeUnit.MILLISECONDS) && millis >= 20_000) {
        throw new IllegalStateException("waited too long");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("no thread interrupts", e);
    }
  }

  /** What the server was asked until now, with our asking, which is one or two. */
  private long asked() {
    String sql = kind == SqlKind.POSTGRESQL
        ? "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
        : "SELECT VARIABLE_VALUE FROM "
            + (kind == SqlKind.MYSQL
                ? "performance_schema.global_status"
                : "information_schema.GLOBAL_STATUS")
            + " WHERE VARIABLE_NAME = 'QUESTIONS'";
    return Long.parseLong(server.query(sql).get(0));
  }
}
