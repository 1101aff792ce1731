// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.log.Warns;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a message does to those who wait. */
class WaitingTest {
  private static final String CLIENT = "0123456789abcdef0123456789abcdef";

  private final List<Long> looksAfter = new ArrayList<>();
  private final List<Object> told = new ArrayList<>();
  private final NoEyes eyes = new NoEyes();
  private Runnable scheduled = () -> {};
  private final Waiting waiting = new Waiting(
      "a store",
      new StoreRuntime(
          CLIENT,
          new ManualTicker(),
          (task, delayNanos) -> {
            looksAfter.add(delayNanos);
            scheduled = task;
            return () -> {};
          },
          new SplittableRandom(1),
          Duration.ofSeconds(2)),
      (StoreEvents) Proxy.newProxyInstance(
          getClass().getClassLoader(), new Class<?>[] {StoreEvents.class}, (proxy, method, all) -> {
            told.add(all[0]);
            return null;
          }),
      eyes,
      Duration.ofSeconds(10),
      new SplittableRandom(1));

  private static final class NoEyes implements Waiting.Eyes {
    private boolean hasThread;
    private int looks;

    @Override
    public void execute(Runnable task) {
      if (!hasThread) {
        throw new InternalError("no thread can be made, as a test");
      }
      looks++;
    }

    @Override
    public boolean isClosed() {
      return false;
    }

    @Override
    public Waiting.Found look(Collection<LockKey> names, Waiting.Judge judge) {
      throw new AssertionError("no look is run");
    }
  }

  private static Claim claim(boolean fair) {
    return new Claim(
        new ClaimId(CLIENT, 1),
        LockKey.of("x"),
        1,
        1,
        Duration.ofSeconds(30),
        fair,
        new Holder("tester", "host-1", 4711, "main", "a note"));
  }

  @Test
  void fairClaim_thatHears_looksAtOnce() {
    waiting.add(claim(true));
    looksAfter.clear();
    waiting.heard("x");
    assertThat(looksAfter).containsExactly(0L);
    assertThat(told).isEmpty();
  }

  @Test
  void plainClaim_thatHears_isToldAtOnce() {
    waiting.add(claim(false));
    looksAfter.clear();
    waiting.heard("x");
    assertThat(told).containsExactly(claim(false).id());
    assertThat(looksAfter).isEmpty();
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {true, false})
  void anotherLocksMessage_changesNothing(boolean fair) {
    waiting.add(claim(fair));
    looksAfter.clear();
    waiting.heard("y");
    assertThat(told).isEmpty();
    assertThat(looksAfter).isEmpty();
  }

  /** No thread could be made for a look: the next one is not kept waiting by it. */
  @Test
  @Warns("no look for free locks could begin")
  void lookThatCannotBegin_isFollowedByOthers() {
    waiting.add(claim(false));
    looksAfter.clear();
    scheduled.run();
    assertThat(looksAfter).hasSize(1);
    eyes.hasThread = true;
    waiting.lookNow(LockKey.of("x"));
    scheduled.run();
    assertThat(eyes.looks).isEqualTo(1);
  }
}
