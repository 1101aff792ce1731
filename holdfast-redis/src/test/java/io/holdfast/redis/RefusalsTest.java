// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.AcquireUnknownException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockEvent.Lost;
import io.holdfast.LockEvent.Renewed;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that answers and refuses: each refusal has its reason, is never taken for busy, and is over when it is over. */
@Tag("stores")
class RefusalsTest {
  private static final LockOptions LONG = ProxiedRedis.LONG;
  private static final int TRIES = 5;
  private static final LockOptions BRIEF =
      LockOptions.builder().leaseFor(Duration.ofSeconds(9)).build();

  @RegisterExtension
  static final ProxiedRedis REDIS = new ProxiedRedis();

  /** One that a person has to see to is told to who tries, with its reason; nothing was applied. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "OOM command not allowed when used memory > 'maxmemory'. | FULL",
        "MISCONF Errors writing to the AOF file: No space left on device | FULL",
        "NOAUTH Authentication required. | REFUSED",
        "NOPERM this user has no permissions to run the 'evalsha' command | REFUSED"
      })
  void refusal_isToldWithItsReason(String error, Reason reason) throws Exception {
    Holdfast client = REDIS.through(ProxiedRedis.PATIENT);
    DistributedLock lock = client.lock("x", LONG);
    Catch caught = REDIS.proxy().refuse("attempt", error);
    assertThatThrownBy(() -> lock.tryAcquire().isPresent())
        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
          assertThat(e.reason()).isEqualTo(reason);
          assertThat(e.getMessage()).contains(error.substring(0, error.indexOf(' ')));
        });
    assertThat(caught.caught()).isDone();
    assertThat(REDIS.redis().exists("holdfast:{x}")).isZero();
    Hold hold = lock.tryAcquire().orElseThrow();
    REDIS.assertHeldBy(hold);
    ProxiedRedis.release(hold);
    REDIS.assertNothingIsLeft(hold);
  }

  /** One that will be over soon is not told at all, if it is over within the time of a request. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script.",
        "CLUSTERDOWN Hash slot not served",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "MASTERDOWN Link with MASTER is down",
        "NOREPLICAS Not enough good replicas to write."
      })
  void refusalThatIsOverSoon_isSatOut(String error) throws Exception {
    Holdfast client = REDIS.through(ProxiedRedis.PATIENT);
    Catch caught = REDIS.proxy().refuse("attempt", error);
    Hold hold = client.lock("x", LONG).tryAcquire().orElseThrow();
    assertThat(caught.caught()).isDone();
    REDIS.assertHeldBy(hold);
    ProxiedRedis.release(hold);
    REDIS.assertNothingIsLeft(hold);
  }

  /** A renewal, or a release, that is refused once is asked again: the hold goes on, and ends when it should. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "LOADING Redis is loading the dataset in memory",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "NOAUTH Authentication required."
      })
  void refusedRenewal_isRepeated(String error) throws Exception {
    Holdfast client = REDIS.through();
    Catch keep = REDIS.proxy().refuse("keep_held", error);
    Hold hold = client.lock("x", BRIEF).acquire();
    Await.value(keep.caught());
    long before = REDIS.told(Renewed.class);
    Await.until("it is renewed", () -> REDIS.told(Renewed.class) > before);
    REDIS.assertHeldBy(hold);
    assertThat(REDIS.told(Lost.class)).isZero();
    Catch end = REDIS.proxy().refuse("end", error);
    ProxiedRedis.release(hold);
    Await.value(end.caught());
    REDIS.assertNothingIsLeft(hold);
  }

  /** A script that the server has just forgotten is sent whole, to all of the verbs. */
  @Test
  void forgottenScripts_areSentWhole() throws Exception {
    Holdfast client = REDIS.through(ProxiedRedis.PATIENT);
    REDIS.redis().scriptFlush();
    Hold hold = client.lock("x", BRIEF).acquire();
    REDIS.redis().scriptFlush();
    Await.until("it is renewed", () -> REDIS.told(Renewed.class) > 0);
    REDIS.redis().scriptFlush();
    assertThat(client.admin().inspect("x")).isPresent();
    REDIS.redis().scriptFlush();
    assertThat(hold.release()).isTrue();
    REDIS.assertNothingIsLeft(hold);
    assertThat(REDIS.told(Lost.class)).isZero();
  }

  /** The record is deleted by hand: as if it had been flushed. */
  @Test
  @Warns("lock=x .*hold lost")
  void deletedRecord_isTold() throws Exception {
    Holdfast client = REDIS.through();
    Hold hold = client.lock("x", BRIEF).acquire();
    CompletableFuture<Hold> waiter = REDIS.direct().lock("x", LONG).acquireAsync();
    REDIS.awaitWaiters(1);
    REDIS.redis().del("holdfast:{x}");
    Await.until("the loss is told", () -> REDIS.told(Lost.class) == 1);
    assertThat(hold.isValid()).isFalse();
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
  }

  /** A real server that can write no more: a hold is at risk until it can; who waits goes on, or is told why not. */
  private void refusesUntil(Reason reason, Runnable begins, Runnable ends) throws Exception {
    Holdfast client = REDIS.through();
    LockOptions options = LockOptions.builder().leaseFor(Duration.ofSeconds(12)).build();
    Hold hold = client.lock("x", options).acquire();
    Holdfast other = REDIS.direct();
    DistributedLock another = other.lock("y", LONG);
    CompletableFuture<Hold> waiter;
    long renewed;
    begins.run();
    try {
      // one that came before was not refused
      int before = REDIS.proxy().count("keep_held");
      assertThat(refused(another).reason()).isEqualTo(reason);
      waiter = another.acquireAsync();
      Await.until("a renewal was refused", () -> REDIS.proxy().count("keep_held") > before);
      if (reason == Reason.UNREACHABLE) {
        assertThat(waiter).isNotDone();
      } else {
        assertThat(Await.failure(waiter)).isInstanceOf(HoldfastException.class);
      }
      renewed = REDIS.told(Renewed.class);
    } finally {
      ends.run();
    }
    if (reason == Reason.UNREACHABLE) {
      assertThat(Await.value(waiter).release()).isTrue();
    }
    Await.until("it is renewed", () -> REDIS.told(Renewed.class) > renewed);
    REDIS.assertHeldBy(hold);
    assertThat(REDIS.told(Lost.class)).isZero();
    ProxiedRedis.release(hold);
    REDIS.assertNothingIsLeft(hold);
  }

  /** A try that gets no answer, because the machine stands still, is made again. */
  private static StoreUnavailableException refused(DistributedLock lock) {
    AcquireUnknownException unknown = null;
    for (int i = 0; i < TRIES; i++) {
      try {
        throw new AssertionError("granted or busy: " + lock.tryAcquire());
      } catch (StoreUnavailableException e) {
        return e;
      } catch (AcquireUnknownException e) {
        unknown = e;
      }
    }
    throw new AssertionError("no answer to any of " + TRIES, unknown);
  }

  @Test
  void tooFewReplicas_isUnreachable() throws Exception {
    refusesUntil(
        Reason.UNREACHABLE,
        () -> REDIS.redis().configSet("min-replicas-to-write", "1"),
        () -> REDIS.redis().configSet("min-replicas-to-write", "0"));
  }

  /** The server has become a replica, as after a failover; then it is the primary again. */
  @Test
  void replica_isUnreachable() throws Exception {
    refusesUntil(
        Reason.UNREACHABLE,
        () -> REDIS.redis().replicaof("127.0.0.1", 1),
        () -> REDIS.redis().replicaofNoOne());
  }

  @Test
  void memoryFull_isFull() throws Exception {
    refusesUntil(
        Reason.FULL,
        () -> REDIS.redis().configSet("maxmemory", "1"),
        () -> REDIS.redis().configSet("maxmemory", "0"));
  }

  /** A snapshot that cannot be written: the server takes no writes. */
  @Test
  void snapshotFails_isFull() throws Exception {
    RedisCommands<String, String> redis = REDIS.redis();
    refusesUntil(
        Reason.FULL,
        () -> {
          try {
            Files.createDirectory(REDIS.folder().resolve("dump.rdb"));
          } catch (IOException e) {
            throw new AssertionError(e);
          }
          redis.configSet("save", "3600 1");
          redis.bgsave();
          Await.until("that is noticed", () -> isRefused(redis));
        },
        () -> redis.configSet("save", ""));
  }

  private static boolean isRefused(RedisCommands<String, String> redis) {
    try {
      redis.set("any", "");
      return false;
    } catch (RedisCommandExecutionException e) {
      return true;
    }
  }
}
