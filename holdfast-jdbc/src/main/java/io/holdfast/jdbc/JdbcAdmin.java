// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.LockInfo;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** What operators ask. */
final class JdbcAdmin {
  private static final int PAGE = 200;

  private final JdbcDialect dialect;
  private final JdbcContext context;
  private final JdbcLane lane;
  private final Waiting waiting;

  JdbcAdmin(JdbcContext context, JdbcLane lane, Waiting waiting) {
    this.context = context;
    this.dialect = context.dialect();
    this.lane = lane;
    this.waiting = waiting;
  }

  CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    return lane.submit(session -> {
      JdbcDialect.Read read = dialect.read(session, List.of(name));
      LockRow row = read.rows().get(name.name());
      if (row == null) {
        return Optional.empty();
      }
      Map<String, Integer> waiters = dialect.waiters(session, List.of(name.name()));
      return row.info(waiters.getOrDefault(name.name(), 0), read.nowUs());
    });
  }

  CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return lane.submit(session -> {
      List<LockRow> rows = dialect.list(session, prefix, page.orElse(""), PAGE + 1);
      boolean more = rows.size() > PAGE;
      List<LockRow> shown = rows.subList(0, Math.min(PAGE, rows.size()));
      Map<String, Integer> waiters =
          dialect.waiters(session, shown.stream().map(LockRow::name).toList());
      long nowUs = dialect.now(session);
      List<LockInfo> found = new ArrayList<>();
      for (LockRow row : shown) {
        row.info(waiters.getOrDefault(row.name(), 0), nowUs).ifPresent(found::add);
      }
      return new LockPage(
          found, more ? Optional.of(shown.get(shown.size() - 1).name()) : Optional.empty());
    });
  }

  CompletionStage<Boolean> evict(LockKey name, long revision) {
    return lane.submit(session -> {
          boolean evicted = dialect.evict(session, name, revision);
          if (evicted) {
            dialect.tell(session, name);
          }
          return evicted;
        })
        .thenApply(evicted -> {
          if (evicted) {
            waiting.lookNow(name);
          }
          return evicted;
        });
  }

  CompletionStage<List<Finding>> diagnose() {
    return lane.submit(session -> new JdbcDoctor(context).look(session));
  }
}
