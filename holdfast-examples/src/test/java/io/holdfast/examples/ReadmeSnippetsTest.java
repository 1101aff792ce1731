// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.OnLost;
import io.holdfast.testkit.log.MayWarn;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** What the README shows does what the README says. */
class ReadmeSnippetsTest {
  private final List<String> log = Collections.synchronizedList(new ArrayList<>());
  private long newestToken;
  private final ReadmeSnippets snippets = new ReadmeSnippets(this::update, log);
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
  void acquire_andTry_workEachTime() throws InterruptedException {
    snippets.acquire(lock);
    assertThat(log).hasSize(4);
    log.clear();
    snippets.tryToAcquire(lock);
    assertThat(log).hasSize(2).last().isEqualTo("ran false");
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
  }

  /** The test of the user's own code passes as it stands. */
  @Nested
  @MayWarn("lock=order:42 .*hold lost: SESSION_ENDED")
  class OwnCode extends ReadmeSnippets.OrderServiceTest {}

  @Test
  void options_areThoseOfTheLock() {
    assertThat(snippets.options(holdfast).name()).isEqualTo("nightly");
    assertThat(snippets.toldOfLoss().get(1).onLost()).isEqualTo(OnLost.interruptAcquirer());
  }

  @Test
  void loss_javaLock_async_useTheHoldsToken() throws Exception {
    ReadmeSnippets.Order order = new ReadmeSnippets.Order(7);
    snippets.loss(lock, List.of(order));
    snippets.javaLock(lock, order);
    snippets.async(lock).get(20, TimeUnit.SECONDS);
    assertThat(log).hasSize(3);
    try (Hold hold = lock.acquire()) {
      assertThat(snippets.futureOfLoss(hold)).isNotDone();
    }
  }
}
