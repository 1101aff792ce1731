// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** 10,000 waits on 10,000 names in one process: what they cost does not grow with them. */
@Tag("all")
class ManyWaitsTest {
  private static final int NAMES = 10_000;
  private static final int AT_ONCE = 50;
  private static final int KEYS_OF_A_WAIT = 3;

  /** Threads that the JVM and the engine's pools may start meanwhile; one for each wait would be far more. */
  private static final int THREADS = 16;

  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();

  /** Everybody is granted, over the connections and the subscription that one wait needs, on hardly more threads. */
  @Test
  @MayWarn("hold lost: LEASE_ENDED")
  void tenThousandWaits_areAllGranted() {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (RedisServer server = RedisServer.forgetful();
        Holdfast holder = client(server);
        Holdfast waiter = client(server)) {
      List<Hold> holds = values(acquireAll(holder));
      waiter.lock("first", LONG).tryAcquire().orElseThrow().close();
      long connections = connections(server);
      int before = threads();
      List<CompletableFuture<Hold>> waits = acquireAll(waiter);
      Await.until(
          "all wait", () -> server.call(redis -> redis.dbsize()) >= (long) NAMES * KEYS_OF_A_WAIT);
      assertThat(connections(server)).isEqualTo(connections);
      List<String> channels = server.call(redis -> redis.pubsubChannels());
      assertThat(channels).hasSize(2);
      assertThat(threads() - before).isLessThan(THREADS);
      assertThat(waits).noneMatch(CompletableFuture::isDone);
      // a lock that is handed over has a waiter's short lease at first: it is released as soon as it is there
      List<CompletableFuture<Boolean>> released = new ArrayList<>();
      waits.forEach(each -> released.add(each.handleAsync(ManyWaitsTest::release, threads)));
      // some at a time, so that none waits for its release behind thousands of others until that lease is over
      for (int from = 0; from < NAMES; from += AT_ONCE) {
        holds
            .subList(from, from + AT_ONCE)
            .forEach(each -> assertThat(each.release()).isTrue());
        released.subList(from, from + AT_ONCE).forEach(Await::value);
      }
      assertThat(released.stream().filter(each -> !Await.value(each)))
          .as("holds whose lease ended before their release")
          .hasSizeLessThan(NAMES / 10);
      assertThat(connections(server)).isEqualTo(connections);
    } finally {
      threads.shutdownNow();
    }
  }

  /** Releases a hold; returns whether it was still held, which it may not be after a pause of the machine. */
  private static boolean release(@Nullable Hold hold, @Nullable Throwable failure) {
    if (hold == null) {
      assertThat(failure).isInstanceOf(HoldLostException.class);
      return false;
    }
    return hold.release();
  }

  /** With a time for each of 20,000 releases that a machine which stands still does not use up. */
  private static Holdfast client(RedisServer server) {
    return Holdfast.builder()
        .store(server.uri())
        .requestTimeout(Duration.ofSeconds(20))
        .build();
  }

  private static int threads() {
    return Thread.getAllStackTraces().size();
  }

  private static List<CompletableFuture<Hold>> acquireAll(Holdfast client) {
    List<CompletableFuture<Hold>> all = new ArrayList<>();
    for (int i = 0; i < NAMES; i++) {
      all.add(client.lock("x" + i, LONG).acquireAsync());
    }
    return all;
  }

  private static List<Hold> values(List<CompletableFuture<Hold>> futures) {
    List<Hold> all = new ArrayList<>();
    futures.forEach(each -> all.add(Await.value(each)));
    return all;
  }

  private static long connections(RedisServer server) {
    return server.call(redis -> redis.clientList()).lines().count();
  }
}
