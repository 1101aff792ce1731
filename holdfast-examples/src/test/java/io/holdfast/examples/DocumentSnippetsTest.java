// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.OnLost;
import io.holdfast.testkit.log.MayWarn;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the pages show does what they say; {@link DocumentSnippetsServersTest} has what needs a server. */
class DocumentSnippetsTest {
  private final List<String> log = Collections.synchronizedList(new ArrayList<>());
  private long newestToken;
  private final DocumentSnippets snippets = new DocumentSnippets(this::update, log);
  private Holdfast holdfast = Holdfast.connect("memory:");
  private DistributedLock lock = holdfast.lock("lock");

  @BeforeEach
  void connect() {
    lock = holdfast.lock("lock");
  }

  @AfterEach
  void close() {
    holdfast.close();
  }

  /** The table of the examples: one row, which remembers the greatest token; the last argument is the writer's. */
  private int update(String sql, Object... arguments) {
    long token = (Long) arguments[arguments.length - 1];
    if (newestToken > token) {
      return 0;
    }
    newestToken = token;
    return 1;
  }

  @Test
  void theFirstProgram_runsAsItStands(@TempDir Path folder) throws Exception {
    Started program =
        Started.start(folder, "first", HourlyMessageCases.java(DocumentSnippets.class.getName()));
    assertThat(program.exitCode()).as(program::text).isZero();
    assertThat(program.text()).matches("working, token \\d{18}\\R");
    assertThat(folder.resolve("locks.db")).exists();
  }

  @Test
  void acquire_andTry_workEachTime() throws InterruptedException {
    snippets.acquire(lock);
    assertThat(log).hasSize(4);
    log.clear();
    snippets.tryToAcquire(lock);
    assertThat(log).hasSize(4).last().isEqualTo("ran true");
    assertThat(lock.tryAcquire()).as("each hold was closed").isPresent();
  }

  @Test
  void aLateWriter_isRefusedByItsToken() throws InterruptedException {
    Hold late = lock.acquire();
    late.close();
    try (Hold next = lock.acquire()) {
      snippets.checkTheToken(next, 1, 5);
      snippets.checkTheToken(next, 1, 4);
    }
    assertThatThrownBy(() -> snippets.checkTheToken(late, 1, 6))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("stale");
    assertThatThrownBy(() -> snippets.checkOneRow(late, 42))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("stale token");
  }

  /** The next machine sends after a failure, and none after a success. */
  @Test
  void theScheduledJob_isDoneOnce() throws InterruptedException {
    List<Long> sent = new ArrayList<>();
    DocumentSnippets.Job job = new DocumentSnippets.Job(holdfast) {
      @Override
      void send(long token) {
        sent.add(token);
        if (sent.size() == 1) {
          throw new IllegalStateException("not sent");
        }
      }
    };
    assertThatThrownBy(job::everyHour).hasMessage("not sent");
    job.everyHour();
    assertThat(sent).hasSize(2);
    assertThat(holdfast.lock("hourly-message").tryAcquire()).isEmpty();
  }

  /** The job is skipped while it is kept after a success, and not after a failure. */
  @Test
  void whatWasForShedLock_runsOnce() throws InterruptedException {
    List<Long> sent = new ArrayList<>();
    DocumentSnippets.Report job = new DocumentSnippets.Report(holdfast) {
      @Override
      void send(long token) {
        sent.add(token);
        if (sent.size() == 1) {
          throw new IllegalStateException("not sent");
        }
      }

      @Override
      void log(String line) {
        log.add(line);
      }
    };
    assertThatThrownBy(job::report).hasMessage("not sent");
    job.report();
    assertThat(log).isEmpty();
    job.report();
    assertThat(sent).hasSize(2);
    assertThat(log).containsExactly("another machine does it");
  }

  @Test
  void whatWasForRedisson_worksTwice() throws InterruptedException {
    snippets.fixedLease(holdfast);
    assertThat(log).hasSize(2).allMatch(line -> line.startsWith("worked with "));
    assertThat(holdfast.lock("order:42").tryAcquire()).isPresent();
  }

  /** The test of the user's own code passes as it stands. */
  @Nested
  @MayWarn({"lock=order:42 .*hold lost: SESSION_ENDED", "lock=order:42 .*hold lost: LEASE_ENDED"})
  class OwnCode extends DocumentSnippets.OrderServiceTest {}

  @Test
  void options_areThoseOfTheLock() {
    assertThat(snippets.options(holdfast).name()).isEqualTo("nightly");
    assertThat(snippets.toldOfLoss().get(1).onLost()).isEqualTo(OnLost.interruptAcquirer());
  }

  @Test
  void loss_javaLock_async_useTheHoldsToken() throws Exception {
    DocumentSnippets.Order order = new DocumentSnippets.Order(7);
    snippets.loss(lock, List.of(order));
    snippets.javaLock(lock, order);
    snippets.async(lock).get(20, TimeUnit.SECONDS);
    assertThat(log).hasSize(3);
    assertThat(DocumentSnippets.force(holdfast)).isFalse();
    try (Hold hold = lock.acquire()) {
      assertThat(snippets.futureOfLoss(hold)).isNotDone();
    }
  }
}
