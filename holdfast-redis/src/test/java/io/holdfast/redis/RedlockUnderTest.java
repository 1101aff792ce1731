// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Three servers for all tests of this JVM, emptied after each. A restart is one of a minority. */
final class RedlockUnderTest implements StoreUnderTest {
  private static final Pattern VERSION = Pattern.compile("redis_version:(\\S+)");
  private static final int NODES = 3;
  private static @Nullable RedlockNodes shared;
  private static String version = "";

  private final RedlockNodes nodes;

  RedlockUnderTest() {
    this.nodes = nodes();
  }

  private static synchronized RedlockNodes nodes() {
    RedlockNodes running = shared;
    if (running == null) {
      running = new RedlockNodes(new RedlockRule(NODES, Duration.ofHours(1), RedlockRule.REACH));
      shared = running;
      Matcher found = VERSION.matcher(running.redis(0).info("server"));
      version = found.find() ? found.group(1) : "of an unknown version";
    }
    return running;
  }

  @Override
  public String kind() {
    return "redlock";
  }

  @Override
  public String version() {
    return "Redis " + version;
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
    int emptiest = 0;
    for (int i = 1; i < NODES; i++) {
      if (nodes.redis(i).dbsize() < nodes.redis(emptiest).dbsize()) {
        emptiest = i;
      }
    }
    nodes.server(emptiest).restart();
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
    nodes.clear();
  }
}
