// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several threads on several stores on one file, all at once. */
class SqliteThreadsTest {
  private static final int NAMES = 3;
  private static final int THREADS = 4;
  private static final int GRANTS = 50;

  @TempDir
  private Path folder;

  private final AtomicIntegerArray inside = new AtomicIntegerArray(NAMES);
  private final AtomicLongArray latest = new AtomicLongArray(NAMES);

  @Test
  void threadsAndStores_excludeEachOther_andTokensGrow() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Client> clients = new ArrayList<>();
    try {
      List<Callable<Boolean>> all = new ArrayList<>();
      for (int c = 0; c < 2; c++) {
        Client client = new Client(folder.resolve("locks.db")).connect();
        clients.add(client);
        for (int t = 0; t < THREADS; t++) {
          all.add(() -> work(client));
        }
      }
      for (Future<Boolean> each : threads.invokeAll(all)) {
        assertThat(each.get()).isTrue();
      }
    } finally {
      clients.forEach(Client::close);
      threads.shutdownNow();
    }
  }

  /** Tries until it has had its share: that takes as many tries as the others leave it. */
  private boolean work(Client client) {
    int grants = 0;
    for (int i = 0; grants < GRANTS; i++) {
      int name = i % NAMES;
      Claim claim = i % 5 == 0 ? client.fair("n" + name) : client.claim("n" + name);
      if (client.attempt(claim, Mode.TRY) instanceof Answer.Granted granted) {
        grants++;
        assertThat(inside.incrementAndGet(name)).isEqualTo(1);
        assertThat(granted.grant().revision()).isGreaterThan(latest.get(name));
        latest.set(name, granted.grant().revision());
        if (i % 7 == 0) {
          assertThat(client.keep(claim)).isInstanceOf(Kept.Held.class);
        }
        inside.decrementAndGet(name);
        assertThat(client.end(claim).outcome()).isEqualTo(Outcome.RELEASED);
      }
    }
    return true;
  }
}
