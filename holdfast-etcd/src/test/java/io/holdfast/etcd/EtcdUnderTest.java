// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.contract.Capability;
import io.holdfast.testkit.contract.StoreUnderTest;
import io.holdfast.testkit.etcd.EtcdServer;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One server for all tests of this JVM; each has keys of its own. */
final class EtcdUnderTest implements StoreUnderTest {
  private static @Nullable EtcdServer shared;
  private static String version = "";
  private static int made;

  private final EtcdServer server;
  private final String prefix;

  EtcdUnderTest() {
    this.server = server();
    this.prefix = nextPrefix();
  }

  static synchronized EtcdServer server() {
    EtcdServer running = shared;
    if (running == null) {
      running = EtcdServer.with();
      shared = running;
      version = running.version();
    }
    return running;
  }

  /** Begins to make a client of that server. */
  static ClientBuilder client() {
    return Client.builder().endpoints("http://" + server().endpoint());
  }

  static synchronized String nextPrefix() {
    return "test-" + ++made + "/";
  }

  @Override
  public String kind() {
    return "etcd";
  }

  @Override
  public String version() {
    return version;
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
