// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.Occupancy;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/** Three servers for all tests of this JVM, emptied when none is on them. A restart is one of a minority. */
final class RedlockUnderTest implements StoreUnderTest {
  private static final int NODES = 3;
  private static final LazyServer<RedlockNodes> SHARED = new LazyServer<>(
      () -> new RedlockNodes(new RedlockRule(NODES, Duration.ofHours(1), RedlockRule.REACH)));

  private static final Occupancy TESTS = new Occupancy(() -> SHARED.get().clear());

  private final RedlockNodes nodes;

  RedlockUnderTest() {
    this.nodes = SHARED.get();
    TESTS.enter();
  }

  @Override
  public String version() {
    return nodes.server(0).version();
  }

  @Override
  public String provision() {
    return "3 child processes, nothing on disk; one of them restarts";
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.complementOf(EnumSet.of(Capability.FAIR));
  }

  @Override
  public LockStore open() {
    return nodes.store();
  }

  @Override
  public String uri() {
    return nodes.uri();
  }

  /** One of them: where a bare majority was asked, the one that was not; what only one node still has, nobody can tell. */
  @Override
  public void restart() {
    nodes.server(oddOne()).restart();
  }

  /**
   * The node that knows other things than the two others: a request to it was still under way when they, a majority, had
   * answered and the clients were closed.
   */
  private int oddOne() {
    String first = known(0);
    String second = known(1);
    String third = known(2);
    if (first.equals(second)) {
      return 2;
    }
    return first.equals(third) ? 1 : 0;
  }

  /** What a node would say of its locks, without its own times. */
  private String known(int node) {
    RedisCommands<String, String> redis = nodes.redis(node);
    return redis.keys("*").stream()
        .filter(key -> redis.type(key).equals("hash") && !key.endsWith(":m"))
        .sorted()
        .map(key -> key + redis.hmget(key, "n", "r", "c"))
        .collect(Collectors.joining("\n"));
  }

  @Override
  public void stall() {
    for (int i = 0; i < NODES; i++) {
      nodes.server(i).pause();
    }
  }

  @Override
  public void resume() {
    for (int i = 0; i < NODES; i++) {
      nodes.server(i).resume();
    }
  }

  @Override
  public void close() {
    TESTS.leave();
  }
}
