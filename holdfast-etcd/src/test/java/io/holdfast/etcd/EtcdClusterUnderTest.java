// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.etcd.EtcdCluster;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.ServerPrograms;
import java.util.EnumSet;
import java.util.Set;

/** One cluster of three for all tests of this JVM; each has keys of its own. */
final class EtcdClusterUnderTest implements StoreUnderTest {
  private static final LazyServer<EtcdCluster> SHARED = new LazyServer<>(EtcdCluster::new);

  private final EtcdCluster cluster = cluster();
  private final String prefix = EtcdUnderTest.nextPrefix();

  static EtcdCluster cluster() {
    return SHARED.get();
  }

  @Override
  public String version() {
    return cluster.members().get(0).version() + ServerPrograms.remark("etcd");
  }

  @Override
  public String provision() {
    return "three child processes";
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public LockStore open() {
    return EtcdStore.at(StoreAddress.parse(uri()));
  }

  @Override
  public String uri() {
    return cluster.uri() + "?holdfast.prefix=" + prefix;
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
    // what is left ends with its lease, under keys that nobody else uses
  }
}
