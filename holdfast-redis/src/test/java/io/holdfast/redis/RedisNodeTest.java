// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.redis.RedisReplicas.Confirmed;
import io.holdfast.redis.RedisReplicas.Rule;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** What a connection to a server does goes on, whatever is thrown on the way: a class that is missing for instance. */
class RedisNodeTest {
  private static final byte[][] NOTHING = new byte[0][];

  private final Alarms alarms = new Alarms();
  private final ManualClock clock = new ManualClock();
  private final StoreRuntime runtime = new StoreRuntime(
      "0123456789abcdef0123456789abcdef", clock, alarms, new Random(1), Duration.ofSeconds(2));
  private final FakeConnection fake = new FakeConnection();
  private int strayed;
  private final RedisNode node = new RedisNode(
      "test",
      runtime,
      () -> CompletableFuture.completedFuture(fake.connection),
      new FirstQuestion(RedisScript.CHECK, () -> null, NOTHING, answer -> {}),
      new RedisClock(clock),
      Rule.NONE,
      new Astray(() -> {
        strayed++;
        throw new NoClassDefFoundError("of the test");
      }));

  @BeforeEach
  void open() {
    var opened = node.open();
    fake.asked.get(0).complete(List.of(RedisKeys.ascii("1767225600"), RedisKeys.ascii("0")));
    assertThat(opened.toCompletableFuture()).isCompleted();
    assertThat(alarms.size()).isZero();
  }

  private static void assertBreaks(Executable step) {
    assertThatThrownBy(step::execute).isInstanceOf(NoClassDefFoundError.class);
  }

  @Test
  void silence_isWatched_thoughTheListenerThrows() {
    var unused = node.ask(redis -> redis.time());
    for (int i = 1; i <= 2; i++) {
      clock.advance(Duration.ofSeconds(7));
      assertThat(alarms.size()).isEqualTo(1);
      assertBreaks(alarms::run);
      assertThat(strayed).isEqualTo(i);
    }
  }

  /** What was not sent has no answer that could be missing. */
  @Test
  void commandThatCannotBeSent_fails_andIsNotWaitedFor() {
    var failed = node.<String>ask(redis -> {
      throw new NoClassDefFoundError("of the test");
    });
    assertThat(Await.failure(failed)).isInstanceOf(StoreException.class);
    alarms.run();
    assertThat(alarms.size()).as("nothing is watched").isZero();
  }

  /** A script that cannot be sent fails its group, and keeps nothing that comes later. */
  @Test
  void replicas_goOn_whenAGroupCannotBeSent() {
    RedisReplicas replicas = new RedisReplicas(new Rule(1, Duration.ofMillis(200)), node, runtime);
    fake.broken = new NoClassDefFoundError("of the test");
    CompletableFuture<Confirmed> first = run(replicas);
    assertThat(Await.failure(first))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.notApplied()).isFalse());
    CompletableFuture<Confirmed> second = run(replicas);
    assertThat(fake.dispatched).hasSize(2);
    assertThat(second).isNotDone();
  }

  private static CompletableFuture<Confirmed> run(RedisReplicas replicas) {
    return replicas.run(answer -> true, RedisScript.ATTEMPT, NOTHING).toCompletableFuture();
  }
}
