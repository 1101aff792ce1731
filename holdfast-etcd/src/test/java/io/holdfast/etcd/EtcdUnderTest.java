// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.process.LazyServer;
import io.holdfast.testkit.process.ServerPrograms;
import java.util.EnumSet;
import java.util.Set;

/** One server for all tests of this JVM; each has keys of its own. */
final class EtcdUnderTest implements StoreUnderTest {
  private static final LazyServer<EtcdServer> SHARED = new LazyServer<>(EtcdServer::with);
  private static int made;

  private final EtcdServer server;
  private final String prefix;

  EtcdUnderTest() {
    this.server = server();
    this.prefix = nextPrefix();
  }

  static EtcdServer server() {
    return SHARED.get();
  }

  /** Begins to make a client of that server. */
  static ClientBuilder client() {
    return Client.builder().endpoints("http://" + server().endpoint());
  }

  static synchronized String nextPrefix() {
    return "test-" + ++made + "/";
  }

  @Override
  public String version() {
    return server.version() + ServerPrograms.remark("etcd");
  }

  @Override
  public String provision() {
    return "child process";
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
    return server.uri() + "?holdfast.prefix=" + prefix;
  }

  @Override
  public void restart() {
    server.restart();
  }

  @Override
  public void stall() {
    server.pause();
  }

  @Override
  public void resume() {
    server.resume();
  }

  @Override
  public void close() {
    // what is left ends with its lease, under keys that nobody else uses
  }
}
