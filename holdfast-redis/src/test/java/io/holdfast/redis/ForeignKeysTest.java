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
    assertThatThrownBy(() -> client.admin().inspect(name).isPresent())
        .isInstanceOfSatisfying(
            StoreUnavailableException.class, e -> assertThat(e.reason()).isEqualTo(Reason.DAMAGED))
        .hasMessageContainingAll(words, "another holdfast.prefix");
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

  /** A record of a version to come is a lock, and is not passed over in silence. */
  @Test
  void recordOfAnotherFormat_isNoForeignKey() throws Exception {
    SERVER.get().call(redis -> {
      occupy(redis);
      return redis.hset("holdfast:{newer}", "v", "R9");
    });
    try (Holdfast client = Holdfast.connect(SERVER.get().uri())) {
      assertThatThrownBy(() -> client.admin().list("n").isEmpty())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("newer version of Holdfast");
    } finally {
      SERVER.get().call(redis -> redis.del("holdfast:{newer}"));
    }
  }
}
