// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.process.LazyServer;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Another program's keys begin as ours do: locks are listed all the same, and who looks at one of the keys is told of it. */
@Tag("stores")
class ForeignKeysTest {
  private static final int NODES = 3;

  @RegisterExtension
  static final LazyServer<RedisServer> SERVER = new LazyServer<>(RedisServer::forgetful);

  @RegisterExtension
  static final LazyServer<RedlockNodes> REDLOCK = new LazyServer<>(
      () -> new RedlockNodes(new RedlockRule(NODES, Duration.ofHours(1), RedlockRule.REACH)));

  private static boolean occupy(RedisCommands<String, String> redis) {
    redis.set("holdfast:{string}", "");
    redis.hset("holdfast:{hash}", "field", "");
    redis.sadd("holdfast:{set}", "member");
    redis.set("holdfast:{}", "");
    redis.set("holdfast:{%zz}", "");
    redis.set("holdfast:{a%20b}", "");
    redis.set("holdfast:{" + "long".repeat(200) + "}", "");
    return true;
  }

  private static void assertLeavesThemOut(Holdfast client) throws InterruptedException {
    try (Hold hold = client.lock("mine").acquire()) {
      assertThat(client.admin().list("")).extracting(LockInfo::name).containsExactly("mine");
      assertThat(client.admin().list("s")).isEmpty();
      assertTold(client, "string", "WRONGTYPE");
      assertTold(client, "hash", "HOLDFAST the key is not a lock of ours");
      assertThat(hold.isValid()).isTrue();
    }
  }

  private static void assertTold(Holdfast client, String name, String words) {
    assertDamaged(() -> client.admin().inspect(name))
        .hasMessageContainingAll(words, "another holdfast.prefix");
  }

  private static AbstractThrowableAssert<?, ?> assertDamaged(ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            StoreUnavailableException.class, e -> assertThat(e.reason()).isEqualTo(Reason.DAMAGED));
  }

  @Test
  void redis() throws Exception {
    SERVER.get().call(ForeignKeysTest::occupy);
    try (Holdfast client = Holdfast.connect(SERVER.get().uri())) {
      assertLeavesThemOut(client);
    }
  }

  @Test
  void redlock() throws Exception {
    for (int i = 0; i < NODES; i++) {
      occupy(REDLOCK.get().redis(i));
    }
    try (Holdfast client = Holdfast.builder().store(REDLOCK.get().store()).build()) {
      assertLeavesThemOut(client);
    }
  }

  private static void assertListed(Holdfast client) throws InterruptedException {
    try (Hold hold = client.lock("near").acquire()) {
      List<LockInfo> all = client.admin().list("n");
      assertThat(all).extracting(LockInfo::name).containsExactly("near", "newer");
      LockInfo newer = all.get(1);
      assertThat(newer.isTaken()).isTrue();
      assertThat(newer.holder()).contains(RedisHolder.UNREADABLE);
      assertThat(newer.waiters()).hasToString("unknown");
      assertTold(client, "newer", "HOLDFAST the record has format");
      assertDamaged(() -> client.admin().forceRelease(newer));
      assertThat(hold.isValid()).isTrue();
    }
  }

  /** A record of a version to come is a lock's: it hides no other one, and is not passed over in silence. */
  @Test
  void redis_recordOfAnotherFormat() throws Exception {
    SERVER.get().call(redis -> redis.hset("holdfast:{newer}", "l", "\tof next year's"));
    try (Holdfast client = Holdfast.connect(SERVER.get().uri())) {
      assertListed(client);
      String kept = SERVER.get().call(redis -> redis.hget("holdfast:{newer}", "l"));
      assertThat(kept).isEqualTo("\tof next year's");
    } finally {
      SERVER.get().call(redis -> redis.del("holdfast:{newer}"));
    }
  }

  /** On one of the nodes is another program's key: what the others have is a lock's all the same. */
  @Test
  void redlock_recordOfAnotherFormat() throws Exception {
    REDLOCK.get().redis(0).set("holdfast:{newer}", "theirs");
    for (int i = 1; i < NODES; i++) {
      REDLOCK.get().redis(i).hset("holdfast:{newer}", "v", "R9");
    }
    try (Holdfast client = Holdfast.builder().store(REDLOCK.get().store()).build()) {
      assertListed(client);
    } finally {
      for (int i = 0; i < NODES; i++) {
        REDLOCK.get().redis(i).del("holdfast:{newer}");
      }
    }
  }
}
