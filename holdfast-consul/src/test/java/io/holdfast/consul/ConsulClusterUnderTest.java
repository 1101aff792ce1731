// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.consul.ConsulCluster;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.process.LazyServer;
import java.util.EnumSet;
import java.util.Set;

/** One cluster of three for all tests of this JVM; each has keys of its own. */
final class ConsulClusterUnderTest implements StoreUnderTest {
  private static final LazyServer<ConsulCluster> SHARED = new LazyServer<>(ConsulCluster::new);

  private final ConsulCluster cluster = cluster();
  private final String prefix = ConsulUnderTest.nextPrefix();

  static ConsulCluster cluster() {
    return SHARED.get();
  }

  @Override
  public String version() {
    return cluster.members().get(0).version();
  }

  @Override
  public String provision() {
    return "three child processes";
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.complementOf(EnumSet.of(Capability.FAIR));
  }

  @Override
  public LockStore open() {
    return ConsulStore.at(StoreAddress.parse(uri()));
  }

  @Override
  public String uri() {
    return cluster.uri() + "?holdfast.prefix=" + prefix + ConsulUnderTest.BRIEF;
  }

  @Override
  public void restart() {
    cluster.restart();
  }

  @Override
  public void stall() {
    cluster.pause();
  }

  @Override
  public void resume() {
    cluster.resume();
  }

  @Override
  public void close() {
    // what is left ends with its session, under keys that nobody else uses
  }
}
