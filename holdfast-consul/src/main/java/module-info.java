// SPDX-License-Identifier: Apache-2.0
/** Locks kept in Consul. */
module io.holdfast.consul {
  requires static org.jspecify;
  requires transitive io.holdfast.core;
  requires java.net.http;
  requires tools.jackson.core;

  exports io.holdfast.consul;

  provides io.holdfast.spi.LockStoreFactory with
      io.holdfast.consul.ConsulStoreFactory;
}
