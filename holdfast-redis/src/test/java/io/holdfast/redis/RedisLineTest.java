// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** A connection that is not opened in time, or no longer wanted, does not keep the next one from being opened. */
class RedisLineTest {
  private final Alarms alarms = new Alarms();
  private final List<CompletableFuture<StatefulConnection<byte[], byte[]>>> asked =
      new ArrayList<>();
  private final CompletableFuture<Boolean> answered = new CompletableFuture<>();
  private int ups;
  private int downs;

  private RedisLine<StatefulConnection<byte[], byte[]>> line(
      boolean lent, Duration requestTimeout) {
    return new RedisLine<>(
        alarms.runtime(requestTimeout),
        RedisLine.Use.of(
            RedisOpener.of(lent, this::opened), up -> answered, () -> ups++, () -> downs++));
  }

  private RedisLine<StatefulConnection<byte[], byte[]>> line(boolean lent) {
    answered.complete(true);
    return line(lent, Duration.ofSeconds(2));
  }

  private CompletionStage<StatefulConnection<byte[], byte[]>> opened() {
    CompletableFuture<StatefulConnection<byte[], byte[]>> opened = new CompletableFuture<>();
    asked.add(opened);
    return opened;
  }

  private StatefulConnection<byte[], byte[]> arrive(int attempt) {
    StatefulConnection<byte[], byte[]> connection = FakeConnection.open();
    asked.get(attempt).complete(connection);
    return connection;
  }

  /** Whoever waits for the first one waits for the one that follows it. */
  @Test
  void replace_givesUpWhatIsBeingOpened() {
    RedisLine<StatefulConnection<byte[], byte[]>> line = line(false);
    CompletionStage<?> first = line.open();
    line.replace();
    assertThat(asked).hasSize(2);
    StatefulConnection<byte[], byte[]> former = arrive(0);
    assertThat(line.current()).isNull();
    assertThat(FakeConnection.isClosed(former)).isTrue();
    StatefulConnection<byte[], byte[]> up = arrive(1);
    assertThat(line.current()).isSameAs(up);
    assertThat(first.toCompletableFuture()).isCompletedWithValueMatching(up::equals);
    assertThat(FakeConnection.isClosed(up)).isFalse();
    assertThat(asked).hasSize(2);
  }

  /** So it is where one was up before: the next one is begun at once, and none is opened beside it. */
  @Test
  void replace_ofTheNextOne_isTheSame() {
    RedisLine<StatefulConnection<byte[], byte[]>> line = line(false);
    var unused = line.open();
    StatefulConnection<byte[], byte[]> up = arrive(0);
    line.drop(up);
    alarms.run();
    assertThat(asked).hasSize(2);
    line.replace();
    line.replace();
    assertThat(asked).hasSize(4);
    asked.get(1).completeExceptionally(new IllegalStateException("nobody there"));
    asked.get(2).completeExceptionally(new IllegalStateException("nobody there"));
    assertThat(line.refusal()).isNull();
    StatefulConnection<byte[], byte[]> next = arrive(3);
    assertThat(line.current()).isSameAs(next);
    assertThat(alarms.size()).isZero();
    assertThat(ups).isEqualTo(1);
    assertThat(downs).isEqualTo(1);
  }

  /** The application's client may wait for a server that has died for ever. */
  @Test
  void lentClient_thatDoesNotConnect_isNotWaitedFor() {
    RedisLine<StatefulConnection<byte[], byte[]>> line = line(true);
    var unused = line.open();
    line.drop(arrive(0));
    alarms.run();
    assertThat(asked).hasSize(2);
    assertThat(alarms.first()).isEqualTo(Duration.ofSeconds(5));
    alarms.run();
    assertThat(line.refusal()).hasMessageContaining("not connected within 5 s");
    alarms.run();
    assertThat(asked).hasSize(3);
    StatefulConnection<byte[], byte[]> late = arrive(1);
    assertThat(FakeConnection.isClosed(late)).isTrue();
    StatefulConnection<byte[], byte[]> next = arrive(2);
    assertThat(line.current()).isSameAs(next);
    assertThat(alarms.size()).as("a timer that nobody needs").isZero();
  }

  /** Also at first contact, so that the next one is not kept from trying. */
  @Test
  void lentClient_thatDoesNotConnectAtFirst_fails() {
    RedisLine<StatefulConnection<byte[], byte[]>> line = line(true, Duration.ofSeconds(20));
    CompletionStage<?> first = line.open();
    assertThat(alarms.first()).isEqualTo(Duration.ofSeconds(40));
    alarms.run();
    assertThat(first.toCompletableFuture()).isCompletedExceptionally();
    var unused = line.open();
    assertThat(asked).hasSize(2);
  }

  /** Clients of our own have a time for it, which the address may set. */
  @Test
  void ownClient_hasItsTime() {
    RedisLine<StatefulConnection<byte[], byte[]>> line = line(false);
    CompletionStage<?> first = line.open();
    assertThat(alarms.size()).isZero();
    arrive(0);
    assertThat(first.toCompletableFuture()).isCompleted();
  }

  /** A server that stalls after it has accepted ends no first contact whose client has more patience. */
  @Test
  void firstQuestion_hasTheTimeOfARequest() {
    RedisLine<StatefulConnection<byte[], byte[]>> line = line(false, Duration.ofSeconds(20));
    CompletionStage<?> first = line.open();
    arrive(0);
    assertThat(alarms.first()).isEqualTo(Duration.ofSeconds(20));
    answered.complete(true);
    assertThat(first.toCompletableFuture()).isCompleted();
    assertThat(alarms.size()).isZero();
  }

  /** Two seconds at least, however short a request's time is. */
  @Test
  void firstQuestion_thatIsNotAnswered_isGivenUp() {
    RedisLine<StatefulConnection<byte[], byte[]>> line = line(false, Duration.ofMillis(50));
    CompletionStage<?> first = line.open();
    StatefulConnection<byte[], byte[]> silent = arrive(0);
    assertThat(alarms.first()).isEqualTo(Duration.ofSeconds(2));
    alarms.run();
    assertThat(first.toCompletableFuture()).isCompletedExceptionally();
    assertThat(line.refusal()).hasMessageContaining("not answered within 2 s");
    assertThat(FakeConnection.isClosed(silent)).isTrue();
  }

  /** Whoever is told throws, for want of a class for instance: the next one is opened all the same. */
  @Test
  void drop_opensTheNextOne_whateverIsThrown() {
    answered.complete(true);
    RedisLine<StatefulConnection<byte[], byte[]>> line = new RedisLine<>(
        alarms.runtime(), RedisLine.Use.of(this::opened, up -> answered, () -> ups++, () -> {
          throw new NoClassDefFoundError("of the test");
        }));
    var unused = line.open();
    StatefulConnection<byte[], byte[]> up = arrive(0);
    assertThatThrownBy(() -> line.drop(up)).isInstanceOf(NoClassDefFoundError.class);
    alarms.run();
    assertThat(asked).hasSize(2);
  }

  /** A client that never gives up an attempt is not asked for more and more of them. */
  @Test
  void attemptsUnderWay_areLimited() {
    RedisLine<StatefulConnection<byte[], byte[]>> line = line(true);
    for (int i = 0; i < 30; i++) {
      var unused = line.open();
      line.replace();
    }
    assertThat(asked).hasSize(16);
    assertThat(line.refusal()).hasMessageContaining("none has come");
    asked.get(3).completeExceptionally(new IllegalStateException("a minute is over"));
    CompletionStage<?> next = line.open();
    assertThat(asked).hasSize(17);
    arrive(16);
    assertThat(next.toCompletableFuture()).isCompleted();
  }
}
